import { randomBytes } from 'node:crypto';
import pMap from 'p-map';
import type { Temporal } from 'temporal-polyfill';
import type { DayEntry } from '../detection/calendar.ts';
import { type Certification, type Change, idOf, type Sighting } from '../detection/compare.ts';
import type { CertificationEvent } from '../events/event.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import { ledgerTable } from '../names.ts';
import type { Journal } from '../parts.ts';
import type {
  BackOff,
  Baseline,
  DayCertification,
  Lease,
  Ledger,
  Leftovers,
  Life,
  State,
  StateChanges,
} from '../ports.ts';
import { LedgerCorruptError } from './errors.ts';
import {
  calendarKey,
  certificationKey,
  changeAttributes,
  countAttribute,
  dayKey,
  forgottenRevision,
  newCertificationItem,
  outboxEntryOf,
  parseCertification,
  parseDayCertification,
  parseHistory,
  parseMonth,
  parseOutbox,
  parseState,
  parseUndelivered,
  proofAttribute,
  proofItemOf,
  schemaVersion,
  stateAttributes,
  stateKey,
  undeliveredKey,
} from './items.ts';
import type { Plain, Table } from './table.ts';

const saltBytes = 16;
/** Writes in flight at once: enough to hide latency, too few to trip a cold table's throttle. */
const settleConcurrency = 16;
const months = Array.from({ length: 12 }, (_, index) => String(index + 1).padStart(2, '0'));

/**
 * The ledger of one integration.
 *
 *   commit    condition: the item is new, or at the revision that was compared
 *   settle    condition: the outbox holds exactly what was delivered
 *   lease     condition: nobody's, or run out
 *   complete  condition: still ours
 *
 * So of two ticks that meet, one finds its condition failed and leaves the work to the other.
 */
export class DynamoLedger implements Ledger {
  readonly #table: Table;
  readonly #journal: Journal;
  readonly #integration: string;
  readonly #stateKey: string;

  constructor(table: Table, integration: string, journal: Journal) {
    this.#table = table;
    this.#journal = journal;
    this.#integration = integration;
    this.#stateKey = stateKey(integration);
  }

  async state(): Promise<State> {
    const item = (await this.#table.get(this.#stateKey)) ?? (await this.#createState());
    return parseState(item);
  }

  async takeLease(lease: Lease, now: Temporal.Instant): Promise<State | undefined> {
    const before = await this.#table.update(this.#stateKey, {
      UpdateExpression:
        'SET lease_owner = :owner, lease_until = :until, dirty_since = if_not_exists(dirty_since, :now)',
      // Ours already: the answer to this very write was lost, and the SDK has sent it again.
      ConditionExpression:
        'attribute_not_exists(lease_owner) OR lease_until < :now OR lease_owner = :owner',
      values: {
        ':owner': lease.owner,
        ':until': lease.until.epochMilliseconds,
        ':now': now.epochMilliseconds,
      },
      ReturnValues: 'ALL_OLD',
    });
    return before && parseState(before);
  }

  async completeQuietly(now: Temporal.Instant): Promise<void> {
    await this.#table.update(this.#stateKey, {
      UpdateExpression: 'SET heartbeat = :now',
      values: { ':now': now.toString() },
    });
  }

  async complete(lease: Lease, now: Temporal.Instant, changes: StateChanges): Promise<boolean> {
    const { dirty, ...learned } = changes;
    const { set, names, values } = assignments({
      heartbeat: now.toString(),
      ...stateAttributes(learned),
    });
    const written = await this.#table.update(this.#stateKey, {
      UpdateExpression: `SET ${set} REMOVE lease_owner, lease_until${dirty ? '' : ', dirty_since'}`,
      ConditionExpression: 'lease_owner = :owner',
      ExpressionAttributeNames: names,
      values: { ...values, ':owner': lease.owner },
    });
    return written !== undefined;
  }

  async giveBackLease(lease: Lease): Promise<void> {
    await this.#table.update(this.#stateKey, {
      UpdateExpression: 'REMOVE lease_owner, lease_until',
      ConditionExpression: 'lease_owner = :owner',
      values: { ':owner': lease.owner },
    });
  }

  async saveBaseline(baseline: Baseline): Promise<void> {
    const { set, names, values } = assignments(stateAttributes({ baseline }));
    await this.#table.update(this.#stateKey, {
      UpdateExpression: `SET ${set}`,
      ExpressionAttributeNames: names,
      values,
    });
  }

  async backOff(backOff: BackOff | undefined): Promise<void> {
    if (backOff === undefined)
      await this.#table.update(this.#stateKey, { UpdateExpression: 'REMOVE back_off' });
    else
      await this.#table.update(this.#stateKey, {
        UpdateExpression: 'SET back_off = :back_off',
        values: {
          ':back_off': { until: backOff.until.epochMilliseconds, failures: backOff.failures },
        },
      });
  }

  async known(ids: readonly number[]): Promise<ReadonlyMap<number, Certification>> {
    const keys = [...new Set(ids)].map((id) => certificationKey(this.#integration, id));
    const known = new Map<number, Certification>();
    for (const item of await this.#table.getAll(keys)) {
      const certification = this.#readable(() => parseCertification(item));
      if (certification !== undefined) known.set(certification.id, certification);
    }
    return known;
  }

  async lives(ids: readonly number[]): Promise<ReadonlyMap<number, Life>> {
    const keys = [...new Set(ids)].map((id) => certificationKey(this.#integration, id));
    const lives = new Map<number, Life>();
    for (const item of await this.#table.getAll(keys)) {
      const life = this.#readable(() => ({
        certification: parseCertification(item),
        history: parseHistory(item),
        undelivered: parseUndelivered(item),
      }));
      if (life !== undefined) lives.set(life.certification.id, life);
    }
    return lives;
  }

  async knownOfDay(day: string): Promise<ReadonlyMap<number, DayCertification>> {
    const { name, partitionKey } = ledgerTable.byDay;
    const known = new Map<number, DayCertification>();
    const pages = this.#table.query({
      IndexName: name,
      KeyConditionExpression: '#day = :day',
      ExpressionAttributeNames: { '#day': partitionKey },
      values: { ':day': dayKey(this.#integration, day) },
    });
    for await (const page of pages)
      for (const item of page) {
        const certification = this.#readable(() => parseDayCertification(item));
        if (certification !== undefined) known.set(certification.id, certification);
      }
    return known;
  }

  async calendar(years: readonly number[]): Promise<ReadonlyMap<string, DayEntry>> {
    const keys = years.flatMap((year) =>
      months.map((month) =>
        calendarKey(this.#integration, `${String(year).padStart(4, '0')}-${month}`),
      ),
    );
    const items = await this.#table.getAll(keys);
    return new Map(items.flatMap(parseMonth));
  }

  async saveDays(entries: ReadonlyMap<string, DayEntry>): Promise<void> {
    await this.#updateMonths(entries, (days) => {
      const attributes = days.flatMap(([day, entry]) => [
        [countAttribute(day), entry.count] as const,
        [proofAttribute(day), proofItemOf(entry)] as const,
      ]);
      const { set, names, values } = assignments(Object.fromEntries(attributes));
      return { UpdateExpression: `SET ${set}`, ExpressionAttributeNames: names, values };
    });
  }

  async addYears(years: readonly number[]): Promise<void> {
    await this.#table.update(this.#stateKey, {
      UpdateExpression: 'ADD years :years',
      values: { ':years': new Set(years) },
    });
  }

  async addToDays(deltas: ReadonlyMap<string, number>): Promise<void> {
    await this.#updateMonths(deltas, (days) => ({
      UpdateExpression: `ADD ${days.map((_, index) => `#d${index} :d${index}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(
        days.map(([day], index) => [`#d${index}`, countAttribute(day)]),
      ),
      values: Object.fromEntries(days.map(([, delta], index) => [`:d${index}`, delta])),
    }));
  }

  async recordSilently(sightings: readonly Sighting[], now: Temporal.Instant): Promise<void> {
    const at = now.toString();
    await this.#table.putAll(
      sightings.map((sighting) =>
        newCertificationItem(this.#integration, sighting, at, 'baseline'),
      ),
    );
  }

  async commit(
    change: Change,
    event: CertificationEvent,
    now: Temporal.Instant,
    destiny: 'pending' | 'held',
  ): Promise<OwedEvent | undefined> {
    const at = now.toString();
    const entry = outboxEntryOf(event, destiny);
    const index = undeliveredKey(this.#integration, destiny);
    const committed =
      change.kind === 'created'
        ? await this.#commitNew(change, entry, index, at)
        : await this.#commitRevision(change, entry, index, at);
    if (!committed) return undefined;
    const { revision } = change;
    return { certificationId: idOf(change), revision, event, owes: 'event-and-digest' };
  }

  async *leftovers(): AsyncGenerator<Leftovers> {
    const { name, partitionKey } = ledgerTable.undelivered;
    const pages = this.#table.query({
      IndexName: name,
      KeyConditionExpression: '#pending = :pending',
      ExpressionAttributeNames: { '#pending': partitionKey },
      values: { ':pending': undeliveredKey(this.#integration, 'pending') },
      Limit: 200,
    });
    for await (const page of pages) {
      // The index has keys only and lags; the items themselves are read consistently.
      const keys = page.map((entry) => String(entry[ledgerTable.partitionKey]));
      const items = new Map<unknown, Plain>();
      for (const item of await this.#table.getAll(keys))
        items.set(item[ledgerTable.partitionKey], item);
      const owed: OwedEvent[] = [];
      const unreadable: LedgerCorruptError[] = [];
      for (const key of keys) {
        const item = items.get(key);
        if (item === undefined) continue;
        try {
          owed.push(...parseOutbox(item).owed);
        } catch (error) {
          if (!(error instanceof LedgerCorruptError)) throw error;
          unreadable.push(error);
        }
      }
      yield { owed, unreadable };
    }
  }

  async settle(delivered: readonly OwedEvent[], rest: 'nothing' | 'digest'): Promise<void> {
    const byCertification = Map.groupBy(delivered, ({ certificationId }) => certificationId);
    await pMap(
      byCertification,
      async ([id, owed]) => {
        const key = certificationKey(this.#integration, id);
        const entries = new OutboxEntries(owed.map(({ revision }) => revision));
        if (rest === 'digest') await this.#oweDigest(key, entries);
        else await this.#empty(key, entries);
      },
      // One that fails must not leave the others under way unattended.
      { concurrency: settleConcurrency, stopOnError: false },
    );
  }

  /** One item that cannot be read must not hide the others: its own commits will find it in their way. */
  #readable<Parsed>(parse: () => Parsed): Parsed | undefined {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof LedgerCorruptError)) throw error;
      this.#journal.warn('ledger item unreadable', { error });
      return undefined;
    }
  }

  async #createState() {
    const fresh = {
      [ledgerTable.partitionKey]: this.#stateKey,
      salt: randomBytes(saltBytes).toString('base64url'),
      schema: schemaVersion,
    };
    const created = await this.#table.put(fresh, {
      ConditionExpression: 'attribute_not_exists(pk)',
    });
    // Lost against another first tick: its salt counts, not ours.
    return created ? fresh : ((await this.#table.get(this.#stateKey)) ?? fresh);
  }

  #commitNew(sighting: Sighting, entry: Plain, index: string, at: string): Promise<boolean> {
    return this.#table.put(
      {
        ...newCertificationItem(this.#integration, sighting, at, 'created'),
        outbox: { [sighting.revision]: entry },
        [ledgerTable.undelivered.partitionKey]: index,
        [ledgerTable.undelivered.sortKey]: at,
      },
      { ConditionExpression: 'attribute_not_exists(pk)' },
    );
  }

  async #commitRevision(change: Change, entry: Plain, index: string, at: string): Promise<boolean> {
    const { set, names, values } = assignments(changeAttributes(this.#integration, change, at));
    const { partitionKey, sortKey } = ledgerTable.undelivered;
    // What is pending already stays so: a held entry beside it is known by its own mark.
    const undelivered =
      index === undeliveredKey(this.#integration, 'pending')
        ? ':index'
        : 'if_not_exists(#index, :index)';
    const written = await this.#table.update(certificationKey(this.#integration, idOf(change)), {
      UpdateExpression: `SET ${set}, outbox.#revision = :entry, #index = ${undelivered}, #since = if_not_exists(#since, :at) REMOVE #forgotten`,
      ConditionExpression: 'revision = :before',
      ExpressionAttributeNames: {
        ...names,
        '#revision': String(change.revision),
        '#forgotten': forgottenRevision(change.revision),
        '#index': partitionKey,
        '#since': sortKey,
      },
      values: {
        ...values,
        ':entry': entry,
        ':index': index,
        ':at': at,
        ':before': change.revision - 1,
      },
    });
    return written !== undefined;
  }

  /** One update a month; days of one month are one item. */
  async #updateMonths<Value>(
    byDay: ReadonlyMap<string, Value>,
    update: (days: readonly (readonly [string, Value])[]) => Parameters<Table['update']>[1],
  ): Promise<void> {
    const byMonth = Map.groupBy(byDay, ([day]) => day.slice(0, 'YYYY-MM'.length));
    await pMap(
      byMonth,
      ([month, days]) => this.#table.update(calendarKey(this.#integration, month), update(days)),
      { concurrency: settleConcurrency },
    );
  }

  /** Leaves the sparse index only if nothing else was committed since these entries were read. */
  async #empty(key: string, entries: OutboxEntries): Promise<void> {
    const { partitionKey, sortKey } = ledgerTable.undelivered;
    const emptied = await this.#table.update(key, {
      UpdateExpression: `REMOVE ${entries.paths.join(', ')}, #pending, #since`,
      ConditionExpression: `size(outbox) = :all AND ${entries.allExist}`,
      ExpressionAttributeNames: {
        ...entries.names,
        '#pending': partitionKey,
        '#since': sortKey,
      },
      values: { ':all': entries.paths.length },
    });
    if (emptied !== undefined) return;
    const rest = await this.#table.update(key, {
      UpdateExpression: `REMOVE ${entries.paths.join(', ')}`,
      ConditionExpression: 'attribute_exists(outbox)',
      ExpressionAttributeNames: entries.names,
      ReturnValues: 'ALL_NEW',
    });
    if (rest !== undefined) await this.#leaveToOps(key, rest);
  }

  /** What is left is held, and must be found among the held; or nothing is left after all. */
  async #leaveToOps(key: string, rest: Plain): Promise<void> {
    const { owed, held } = parseOutbox(rest);
    if (owed.length > 0) return;
    const { partitionKey, sortKey } = ledgerTable.undelivered;
    const revision = { ':revision': rest.revision };
    if (held.length === 0)
      await this.#table.update(key, {
        UpdateExpression: 'REMOVE #index, #since',
        ConditionExpression: 'revision = :revision',
        ExpressionAttributeNames: { '#index': partitionKey, '#since': sortKey },
        values: revision,
      });
    else
      await this.#table.update(key, {
        UpdateExpression: 'SET #index = :held',
        ConditionExpression: 'revision = :revision',
        ExpressionAttributeNames: { '#index': partitionKey },
        values: { ...revision, ':held': undeliveredKey(this.#integration, 'held') },
      });
  }

  async #oweDigest(key: string, entries: OutboxEntries): Promise<void> {
    await this.#table.update(key, {
      UpdateExpression: `SET ${entries.paths.map((path) => `${path}.owes = :digest`).join(', ')}`,
      ConditionExpression: entries.allExist,
      ExpressionAttributeNames: entries.names,
      values: { ':digest': 'digest' },
    });
  }
}

/** The expression parts that address entries of one item's outbox. */
class OutboxEntries {
  readonly names: Record<string, string>;
  readonly paths: readonly string[];
  readonly allExist: string;

  constructor(revisions: readonly number[]) {
    this.names = Object.fromEntries(
      revisions.map((revision, index) => [`#r${index}`, String(revision)]),
    );
    this.paths = Object.keys(this.names).map((name) => `outbox.${name}`);
    this.allExist = this.paths.map((path) => `attribute_exists(${path})`).join(' AND ');
  }
}

/** `SET` for plain attributes, whatever their names. */
function assignments(attributes: Plain) {
  const entries = Object.entries(attributes);
  return {
    set: entries.map((_, index) => `#a${index} = :a${index}`).join(', '),
    names: Object.fromEntries(entries.map(([name], index) => [`#a${index}`, name])),
    values: Object.fromEntries(entries.map(([, value], index) => [`:a${index}`, value])),
  };
}
