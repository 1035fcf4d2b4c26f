import { randomBytes } from 'node:crypto';
import pMap from 'p-map';
import { Temporal } from 'temporal-polyfill';
import type { Certification, Change } from '../detection/compare.ts';
import type { CertificationEvent } from '../events/event.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import { ledgerTable } from '../names.ts';
import type { Lease, Ledger, Leftovers, State, TickEnd } from '../ports.ts';
import { LedgerCorruptError } from './errors.ts';
import {
  certificationKey,
  contentOf,
  newCertificationItem,
  outboxEntryOf,
  parseCertification,
  parseOutbox,
  parseState,
  pendingOf,
  type StateItem,
  schemaVersion,
  stateKey,
} from './items.ts';
import type { Plain, Table } from './table.ts';

const saltBytes = 16;
/** Writes in flight at once: enough to hide latency, too few to trip a cold table's throttle. */
const settleConcurrency = 16;

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
  readonly #integration: string;
  readonly #stateKey: string;

  constructor(table: Table, integration: string) {
    this.#table = table;
    this.#integration = integration;
    this.#stateKey = stateKey(integration);
  }

  async state(): Promise<State> {
    const item = (await this.#table.get(this.#stateKey)) ?? (await this.#createState());
    return stateOf(parseState(item));
  }

  async takeLease(lease: Lease, now: Temporal.Instant): Promise<State | undefined> {
    const before = await this.#table.update(this.#stateKey, {
      UpdateExpression: 'SET lease_owner = :owner, lease_until = :until, dirty = :true',
      ConditionExpression: 'attribute_not_exists(lease_owner) OR lease_until < :now',
      values: {
        ':owner': lease.owner,
        ':until': lease.until.epochMilliseconds,
        ':now': now.epochMilliseconds,
        ':true': true,
      },
      ReturnValues: 'ALL_OLD',
    });
    return before && stateOf(parseState(before));
  }

  async completeQuietly(now: Temporal.Instant): Promise<void> {
    await this.#table.update(this.#stateKey, {
      UpdateExpression: 'SET heartbeat = :now',
      values: { ':now': now.toString() },
    });
  }

  async complete(lease: Lease, now: Temporal.Instant, end: TickEnd): Promise<boolean> {
    const baseline = end.baselineCompleted
      ? ', baseline_completed_at = if_not_exists(baseline_completed_at, :now)'
      : '';
    const written = await this.#table.update(this.#stateKey, {
      UpdateExpression: `SET heartbeat = :now, dirty = :dirty${baseline} REMOVE lease_owner, lease_until`,
      ConditionExpression: 'lease_owner = :owner',
      values: { ':owner': lease.owner, ':now': now.toString(), ':dirty': !end.allDelivered },
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

  async known(ids: readonly number[]): Promise<ReadonlyMap<number, Certification>> {
    const keys = [...new Set(ids)].map((id) => certificationKey(this.#integration, id));
    const items = await this.#table.getAll(keys);
    return new Map(items.map(parseCertification).map((known) => [known.id, known]));
  }

  async recordSilently(changes: readonly Change[], now: Temporal.Instant): Promise<void> {
    const at = now.toString();
    await this.#table.putAll(
      changes.map((change) => newCertificationItem(this.#integration, change, at)),
    );
  }

  async commit(
    change: Change,
    event: CertificationEvent,
    now: Temporal.Instant,
  ): Promise<OwedEvent | undefined> {
    const at = now.toString();
    const committed =
      change.kind === 'created'
        ? await this.#commitNew(change, event, at)
        : await this.#commitRevision(change, event, at);
    if (!committed) return undefined;
    const { assessment, revision } = change;
    return { certificationId: assessment.id, revision, event, owes: 'event-and-digest' };
  }

  async *leftovers(): AsyncGenerator<Leftovers> {
    const { name, partitionKey } = ledgerTable.undelivered;
    const pages = this.#table.query({
      IndexName: name,
      KeyConditionExpression: '#pending = :pending',
      ExpressionAttributeNames: { '#pending': partitionKey },
      values: { ':pending': pendingOf(this.#integration) },
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
          owed.push(...parseOutbox(item));
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
      { concurrency: settleConcurrency },
    );
  }

  async #createState() {
    const fresh = {
      [ledgerTable.partitionKey]: this.#stateKey,
      salt: randomBytes(saltBytes).toString('base64url'),
      dirty: false,
      schema: schemaVersion,
    };
    const created = await this.#table.put(fresh, {
      ConditionExpression: 'attribute_not_exists(pk)',
    });
    // Lost against another first tick: its salt counts, not ours.
    return created ? fresh : ((await this.#table.get(this.#stateKey)) ?? fresh);
  }

  #commitNew(change: Change, event: CertificationEvent, at: string): Promise<boolean> {
    return this.#table.put(
      {
        ...newCertificationItem(this.#integration, change, at),
        outbox: { [change.revision]: outboxEntryOf(event) },
        [ledgerTable.undelivered.partitionKey]: pendingOf(this.#integration),
        [ledgerTable.undelivered.sortKey]: at,
      },
      { ConditionExpression: 'attribute_not_exists(pk)' },
    );
  }

  async #commitRevision(change: Change, event: CertificationEvent, at: string): Promise<boolean> {
    const content = Object.entries(contentOf(this.#integration, change, at));
    const { partitionKey, sortKey } = ledgerTable.undelivered;
    const written = await this.#table.update(
      certificationKey(this.#integration, change.assessment.id),
      {
        UpdateExpression: `SET ${content.map((_, index) => `#a${index} = :a${index}`).join(', ')}, outbox.#revision = :entry, #pending = :pending, #since = if_not_exists(#since, :at)`,
        ConditionExpression: 'revision = :before',
        ExpressionAttributeNames: {
          ...Object.fromEntries(content.map(([name], index) => [`#a${index}`, name])),
          '#revision': String(change.revision),
          '#pending': partitionKey,
          '#since': sortKey,
        },
        values: {
          ...Object.fromEntries(content.map(([, value], index) => [`:a${index}`, value])),
          ':entry': outboxEntryOf(event),
          ':pending': pendingOf(this.#integration),
          ':at': at,
          ':before': change.revision - 1,
        },
      },
    );
    return written !== undefined;
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
    await this.#table.update(key, {
      UpdateExpression: `REMOVE ${entries.paths.join(', ')}`,
      ConditionExpression: 'attribute_exists(outbox)',
      ExpressionAttributeNames: entries.names,
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

function stateOf(item: StateItem): State {
  return {
    salt: item.salt,
    baselineCompleted: item.baseline_completed_at !== undefined,
    dirty: item.dirty,
    ...(item.lease_until === undefined
      ? {}
      : { leasedUntil: Temporal.Instant.fromEpochMilliseconds(item.lease_until) }),
  };
}
