import type { Temporal } from 'temporal-polyfill';
import { ledgerTable } from '../names.ts';
import type { Decided, Decision, Kept, KeptEvent, KeptPage } from '../operations/ops-ledger.ts';
import { certificationKey, revisionAttribute } from './certification-item.ts';
import { LedgerCorruptError, LedgerUnavailableError } from './errors.ts';
import { parse } from './item.ts';
import {
  outboxWrites,
  parseOutbox,
  waits as places,
  rawOutbox,
  undeliveredKey,
  waitOf,
  waitsOf,
} from './outbox-item.ts';
import type { Plain, Table } from './table.ts';

/** Items of one page. */
const pageItems = 100;
/** Entries of one outbox that one write alters: an expression has 4 KB at most. */
const alteredTogether = 10;
/** Only a writer without the lease comes in between. */
const attempts = 5;

/**
 * What waits for ops, and what they decide about it.
 *
 *   decide  condition: the outbox is as it was read
 */
export class KeptEvents {
  readonly #table: Table;
  readonly #integration: string;

  constructor(table: Table, integration: string) {
    this.#table = table;
    this.#integration = integration;
  }

  /**
   * An item is in the index for the first thing it waits for, so every place is looked at.
   * @param after `<place>/<owed since>/<id>`: of what is owed since the same moment, some may be done
   */
  async *pages(waits: Kept, after?: string): AsyncGenerator<KeptPage> {
    const first = places.findIndex((place) => after?.startsWith(`${place}/`) ?? true);
    const [, since = '', id] = after?.split('/') ?? [];
    const start = id === undefined ? undefined : { since, id: Number(id) };
    for (const [index, place] of places.slice(first).entries())
      for await (const page of this.#indexed(place, index === 0 ? start : undefined)) {
        const last = page.at(-1);
        if (last === undefined) continue;
        const keys = page.map(keyOf);
        const end = `${place}/${last[ledgerTable.undelivered.sortKey]}/${idIn(keyOf(last))}`;
        yield { ...readAll(await this.#table.getAll(keys), waits), end };
      }
  }

  async decide(
    certificationId: number,
    waits: Kept,
    decision: Decision,
    choose: (event: KeptEvent) => boolean,
    now: Temporal.Instant,
  ): Promise<Decided> {
    const key = certificationKey(this.#integration, certificationId);
    const done: KeptEvent[] = [];
    let failures = 0;
    let freed = 0;
    for (;;) {
      const item = await this.#table.get(key);
      if (item === undefined) return { done, behind: 0, freed };
      const { free, behind } = chosen(item, waits, decision, choose);
      // None twice, whatever has become of it.
      const decided = new Set(done.map(({ revision }) => revision));
      const together = free
        .filter(({ revision }) => !decided.has(revision))
        // The newest first: what is left to be decided stays held behind the first.
        .slice(-alteredTogether);
      if (together.length === 0) return { done, behind, freed };
      if (await this.#alter(item, together, decision, now)) {
        done.unshift(...together);
        freed += freedBy(item, done, decision);
      } else failures += 1;
      if (failures === attempts)
        throw new LedgerUnavailableError('UpdateItem', { cause: new Error('others write, too') });
    }
  }

  /** @param start where it goes on: DynamoDB takes any place in the index for that, also of what is gone */
  #indexed(place: (typeof places)[number], start: { since: string; id: number } | undefined) {
    const { name, partitionKey, sortKey } = ledgerTable.undelivered;
    const index = undeliveredKey(this.#integration, place);
    return this.#table.query({
      IndexName: name,
      KeyConditionExpression: '#index = :index',
      ExpressionAttributeNames: { '#index': partitionKey },
      values: { ':index': index },
      Limit: pageItems,
      ...(start !== undefined && {
        after: {
          [partitionKey]: index,
          [sortKey]: start.since,
          [ledgerTable.partitionKey]: certificationKey(this.#integration, start.id),
        },
      }),
    });
  }

  async #alter(
    item: Plain,
    events: readonly KeptEvent[],
    decision: Decision,
    now: Temporal.Instant,
  ): Promise<boolean> {
    const { partitionKey, sortKey } = ledgerTable.undelivered;
    const altered = waitOf({ ...item, outbox: outboxAfter(item, events, decision) });
    const { set, remove, names } = alterations(item, events, decision);
    const isNoted = set.some((clause) => clause.includes(':note'));
    names['#index'] = partitionKey;
    if (altered !== undefined) set.push('#index = :index');
    else {
      names['#since'] = sortKey;
      remove.push('#index', '#since');
    }
    const seen = item[outboxWrites];
    const written = await this.#table.update(keyOf(item), {
      UpdateExpression: [
        ...(set.length > 0 ? [`SET ${set.join(', ')}`] : []),
        `REMOVE ${remove.join(', ')}`,
        `ADD ${outboxWrites} :one`,
      ].join(' '),
      ConditionExpression:
        seen === undefined ? `attribute_not_exists(${outboxWrites})` : `${outboxWrites} = :seen`,
      ExpressionAttributeNames: names,
      values: {
        ':one': 1,
        ...(seen !== undefined && { ':seen': seen }),
        ...(altered && { ':index': undeliveredKey(this.#integration, altered) }),
        ...(decision === 'released-to-people' && { ':digest': 'digest' }),
        ...(isNoted && { ':none': [], ':note': [{ decision, at: now.toString() }] }),
      },
    });
    return written !== undefined;
  }
}

/** What becomes of the events' entries, and what their revisions note of it. */
function alterations(item: Plain, events: readonly KeptEvent[], decision: Decision) {
  const set: string[] = [];
  const remove: string[] = [];
  const names: Record<string, string> = {};
  for (const [index, { revision }] of events.entries()) {
    names[`#r${index}`] = String(revision);
    const entry = `outbox.#r${index}`;
    if (decision === 'discarded') remove.push(entry);
    else remove.push(`${entry}.held`, `${entry}.undeliverable`);
    if (decision === 'released-to-people') set.push(`${entry}.owes = :digest`);
    if (item[revisionAttribute(revision)] === undefined) continue;
    const history = `#h${index}`;
    names[history] = revisionAttribute(revision);
    set.push(
      `${history}.decisions = list_append(if_not_exists(${history}.decisions, :none), :note)`,
    );
  }
  return { set, remove, names };
}

const keyOf = (item: Plain) => String(item[ledgerTable.partitionKey]);

/** Of a certification's key. */
const idIn = (key: string) => key.slice(key.lastIndexOf('#') + 1);

/** An item that cannot be read does not hide the others. */
function readAll(items: readonly Plain[], waits: Kept): Pick<KeptPage, 'events' | 'unreadable'> {
  const events: KeptEvent[] = [];
  const unreadable: LedgerCorruptError[] = [];
  for (const item of items)
    try {
      events.push(...withCodes(item, parseOutbox(item, [waits])));
    } catch (error) {
      if (!(error instanceof LedgerCorruptError)) throw error;
      unreadable.push(error);
    }
  return { events, unreadable };
}

function withCodes(item: Plain, events: readonly KeptEvent[]): KeptEvent[] {
  const { outbox } = parse(rawOutbox, item);
  return events.map((event) => {
    const code = outbox[event.revision]?.undeliverable;
    return code === undefined ? event : { ...event, code };
  });
}

/** To be released, an event must have none before it that goes on to be held. */
function chosen(
  item: Plain,
  waits: Kept,
  decision: Decision,
  choose: (event: KeptEvent) => boolean,
): { free: KeptEvent[]; behind: number } {
  const { outbox } = parse(rawOutbox, item);
  const isOrdered = waits === 'held' && decision !== 'discarded';
  const free: KeptEvent[] = [];
  let behind = 0;
  let isBlocked = false;
  for (const event of parseOutbox(item, [waits])) {
    const isChosen = choose(event);
    if (!isChosen) isBlocked ||= outbox[event.revision]?.held === true;
    else if (isOrdered && isBlocked) behind += 1;
    else free.push(event);
  }
  return { free, behind };
}

/** Events that were held only because one before them was: nobody has decided about them, and they go out. */
function freedBy(item: Plain, events: readonly KeptEvent[], decision: Decision): number {
  const decided = new Set(events.map(({ revision }) => revision));
  const before = waitsOf(item);
  const after = waitsOf({ ...item, outbox: outboxAfter(item, events, decision) });
  return [...after].filter(
    ([revision, waits]) =>
      waits === 'pending' && before.get(revision) === 'held' && !decided.has(revision),
  ).length;
}

function outboxAfter(item: Plain, events: readonly KeptEvent[], decision: Decision): Plain {
  const decided = new Set(events.map(({ revision }) => String(revision)));
  return Object.fromEntries(
    Object.entries(parse(rawOutbox, item).outbox).flatMap(([revision, entry]) => {
      if (!decided.has(revision)) return [[revision, entry]];
      if (decision === 'discarded') return [];
      const { held: _, undeliverable: __, ...rest } = entry;
      return [
        [revision, { ...rest, ...(decision === 'released-to-people' && { owes: 'digest' }) }],
      ];
    }),
  );
}
