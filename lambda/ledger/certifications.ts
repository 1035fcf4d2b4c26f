import pMap from 'p-map';
import type { Temporal } from 'temporal-polyfill';
import {
  type Certification,
  type Change,
  idOf,
  isNothing,
  isUndone,
  type Sighting,
  toldOf,
} from '../detection/compare.ts';
import type { CertificationEvent } from '../events/event.ts';
import { ledgerTable } from '../names.ts';
import type { Journal } from '../ports/journal.ts';
import type { Committed, DayCertification, Life } from '../ports/ledger.ts';
import {
  certificationKey,
  changeAttributes,
  dayKey,
  forgottenRevision,
  newCertificationItem,
  parseCertification,
  parseDayCertification,
  parseHistory,
  revisionAttribute,
} from './certification-item.ts';
import { LedgerCorruptError } from './errors.ts';
import { assignments } from './expressions.ts';
import {
  isAllHeld,
  outboxEntryOf,
  outboxWrites,
  toldBefore,
  undeliveredKey,
  undeliveredOf,
  type Waits,
  waitsOf,
} from './outbox-item.ts';
import type { Plain, Table } from './table.ts';

/** DynamoDB has no condition for a batch; a new connection for each of these is cheap. */
const writesAtOnce = 32;
/** Entries of one outbox that one write takes out: an expression has 4 KB at most. */
const undoneTogether = 20;

export interface Filed {
  readonly committed: Committed;
  /** The item is in the index under what it does not wait for first: `Outboxes.refile` puts it right. */
  readonly isMisfiled: boolean;
}

/**
 * The certifications of an integration.
 *
 *   commit  condition: the item is new, or at the revision that was compared; where it undoes what is held,
 *           the outbox is as it was read, too
 */
export class Certifications {
  readonly #table: Table;
  readonly #integration: string;
  readonly #journal: Journal;

  constructor(table: Table, integration: string, journal: Journal) {
    this.#table = table;
    this.#integration = integration;
    this.#journal = journal;
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
        undelivered: undeliveredOf(item),
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

  async recordSilently(sightings: readonly Sighting[], now: Temporal.Instant): Promise<void> {
    const at = now.toString();
    await this.#table.putAll(
      sightings.map((sighting) =>
        newCertificationItem(this.#integration, sighting, { kind: 'baseline', at }),
      ),
    );
  }

  async recordNew(
    sightings: readonly Sighting[],
    now: Temporal.Instant,
  ): Promise<readonly Sighting[]> {
    const at = now.toString();
    const written = await pMap(
      sightings,
      (sighting) =>
        this.#table.put(
          newCertificationItem(this.#integration, sighting, { kind: 'baseline', at }),
          {
            ConditionExpression: 'attribute_not_exists(pk)',
          },
        ),
      { concurrency: writesAtOnce },
    );
    return sightings.filter((_, index) => written[index]);
  }

  async commit(
    change: Change,
    event: CertificationEvent,
    now: Temporal.Instant,
    destiny: 'pending' | 'held',
  ): Promise<Filed | 'undone' | undefined> {
    if (change.before?.isHeld && (await this.#undo(change, event, now))) return 'undone';
    const before =
      change.revision === 1 && change.kind === 'created'
        ? await this.#commitNew(change, event, destiny, now)
        : await this.#commitRevision(change, event, destiny, now);
    if (before === undefined) return undefined;
    const { revision } = change;
    const owed = {
      certificationId: idOf(change),
      revision,
      event,
      owes: 'event-and-digest',
    } as const;
    const beside = waitsBeside(before);
    const behind = beside.includes('held') ? 'held' : beside.find((wait) => wait === 'pending');
    return {
      committed: { ...owed, ...(behind && { behind }) },
      isMisfiled: beside.includes(destiny === 'pending' ? 'held' : 'undeliverable'),
    };
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

  /**
   * All that is held of it leaves the outbox with a change that makes it again as subscribers were last told.
   * @returns `false`: it does not, or something was written since the item was read
   */
  async #undo(change: Change, event: CertificationEvent, now: Temporal.Instant): Promise<boolean> {
    const key = certificationKey(this.#integration, idOf(change));
    const item = await this.#table.get(key);
    const told = item && isAllHeld(item) ? toldBefore(item) : undefined;
    if (item === undefined || told === undefined || !isUndone(told, change)) return false;
    const revisions = [...waitsOf(item).keys()].map(revisionAttribute);
    if (revisions.length > undoneTogether) return false;
    const noted = revisions.filter((name) => item[name] !== undefined);
    const { set, names, values } = assignments({
      ...changeAttributes(this.#integration, change, now.toString(), event.data.late, true),
      outbox: {},
      untold: change.kind === 'withdrawn' && isNothing(told),
    });
    const seen = item[outboxWrites];
    const undone = noted.map((_, index) => `#u${index}.undone = :undone`);
    const written = await this.#table.update(key, {
      UpdateExpression: `SET ${[set, ...undone].join(', ')} REMOVE #forgotten, #index, #since ADD ${outboxWrites} :one`,
      ConditionExpression: `revision = :before AND ${seen === undefined ? `attribute_not_exists(${outboxWrites})` : `${outboxWrites} = :seen`}`,
      ExpressionAttributeNames: {
        ...names,
        ...Object.fromEntries(noted.map((name, index) => [`#u${index}`, name])),
        '#forgotten': forgottenRevision(change.revision),
        '#index': ledgerTable.undelivered.partitionKey,
        '#since': ledgerTable.undelivered.sortKey,
      },
      values: {
        ...values,
        ...(noted.length > 0 && { ':undone': true }),
        ':one': 1,
        ':before': change.revision - 1,
        ...(seen !== undefined && { ':seen': seen }),
      },
    });
    return written !== undefined;
  }

  /** @returns the item as it was before: empty */
  async #commitNew(
    sighting: Sighting,
    event: CertificationEvent,
    destiny: 'pending' | 'held',
    now: Temporal.Instant,
  ): Promise<Plain | undefined> {
    const written = await this.#table.put(
      {
        ...newCertificationItem(this.#integration, sighting, {
          kind: 'created',
          at: now.toString(),
          late: event.data.late,
        }),
        outbox: { [sighting.revision]: outboxEntryOf(event, destiny, toldOf(sighting.before)) },
        [ledgerTable.undelivered.partitionKey]: undeliveredKey(this.#integration, destiny),
        [ledgerTable.undelivered.sortKey]: sortable(now),
      },
      { ConditionExpression: 'attribute_not_exists(pk)' },
    );
    return written ? {} : undefined;
  }

  /** @returns the item as it was before */
  #commitRevision(
    change: Change,
    event: CertificationEvent,
    destiny: 'pending' | 'held',
    now: Temporal.Instant,
  ): Promise<Plain | undefined> {
    const { set, names, values } = assignments(
      changeAttributes(this.#integration, change, now.toString(), event.data.late),
    );
    const { partitionKey, sortKey } = ledgerTable.undelivered;
    // What is pending already stays so: a held entry beside it is known by its own mark.
    const index = destiny === 'pending' ? ':index' : 'if_not_exists(#index, :index)';
    return this.#table.update(certificationKey(this.#integration, idOf(change)), {
      UpdateExpression: `SET ${set}, outbox.#revision = :entry, #index = ${index}, #since = if_not_exists(#since, :since) REMOVE #forgotten, untold ADD ${outboxWrites} :one`,
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
        ':entry': outboxEntryOf(event, destiny, toldOf(change.before)),
        ':index': undeliveredKey(this.#integration, destiny),
        ':since': sortable(now),
        ':one': 1,
        ':before': change.revision - 1,
      },
      ReturnValues: 'ALL_OLD',
    });
  }
}

/** As text, instants are in order only when they have as many digits. */
const sortable = (now: Temporal.Instant) => now.toString({ smallestUnit: 'millisecond' });

/** What the item owed already when an event was committed to it. */
function waitsBeside(before: Plain): readonly Waits[] {
  try {
    return [...waitsOf(before).values()];
  } catch (error) {
    if (!(error instanceof LedgerCorruptError)) throw error;
    // It cannot be told, and ops hear of it from whoever reads the outbox.
    return ['pending'];
  }
}
