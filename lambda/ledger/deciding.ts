import * as z from 'zod/mini';
import { detours, found, toldOf } from '../decisions/compare.ts';
import { type Decision, revisionNoted } from '../decisions/history.ts';
import { ledgerKeys } from '../names.ts';
import type { Ledger, WaitingEvent, WaitsForOps } from '../ports/ledger.ts';
import { type Entry, eventsOf, outboxOf, parseCertification } from './certification-item.ts';
import { rewrite } from './certifications.ts';
import { LedgerUnavailableError } from './errors.ts';
import { parse } from './item.ts';
import { type Plain, part, type Table } from './table.ts';

/** Only a writer without the lease can come in between. */
const attempts = 5;

/** Parsed by themselves: nothing else in the history may block a decision. */
const decisionsNoted = z.pick(revisionNoted, { decisions: true });
const reasonNoted = z.object({ found: z.pick(found, { reason: true }) });

/** Decisions about held and undeliverable events. The condition of each write: the outbox is as it was read. */
export function deciding(table: Table, integration: string): Pick<Ledger, 'decide'> {
  return {
    async decide(certificationId, waits, decision, choose, now) {
      const key = ledgerKeys.certification(integration, certificationId);
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const item = await table.get(key);
        if (item === undefined) return { done: [], behind: 0, freed: 0, undone: 0 };
        const { done: all, behind } = chosen(item, waits, decision, choose);
        if (all.length === 0) return { done: all, behind, freed: 0, undone: 0 };
        const decided = new Set(all.map(({ revision }) => revision));
        const entries = outboxOf(item).flatMap((entry) => entryAfter(entry, decided, decision));
        const { released, undone } = releasedFrom(item, Object.fromEntries(entries));
        const noted = notesOf(item, decided, undone, { decision, at: now.toString() });
        const outbox = Object.fromEntries(entries.filter(([revision]) => !undone.has(revision)));
        if (!(await rewrite(table, integration, item, outbox, noted))) continue;
        const isNews = ({ revision }: { revision: number }) => !undone.has(revision);
        const freed = released.filter((one) => isNews(one) && !decided.has(one.revision)).length;
        const done = all.filter(isNews).map((one) => ({ ...one, ...reasonOf(item, one) }));
        return { done, behind, freed, undone: undone.size };
      }
      throw new LedgerUnavailableError('UpdateItem', { cause: new Error('others write, too') });
    },
  };
}

/** An event can be released only if no event before it stays held. */
function chosen(
  item: Plain,
  waits: WaitsForOps,
  decision: Decision,
  choose: (event: WaitingEvent) => boolean,
): { done: WaitingEvent[]; behind: number } {
  const isHeld = new Map(outboxOf(item).map(({ revision, raw }) => [revision, raw.held]));
  const isOrdered = waits === 'held' && decision !== 'discarded';
  const done: WaitingEvent[] = [];
  let behind = 0;
  let isBlocked = false;
  for (const event of eventsOf(item, [waits])) {
    if (!choose(event)) isBlocked ||= isHeld.get(event.revision) === true;
    else if (isOrdered && isBlocked) behind += 1;
    else done.push(event);
  }
  return { done, behind };
}

/** Why it was held, as far as the history has that. */
function reasonOf(item: Plain, { revision }: WaitingEvent) {
  const { data } = reasonNoted.safeParse(item[`revision:${revision}`]);
  return data?.found.reason && { found: data.found };
}

/**
 * Events that are no longer held once this is the outbox, with those that were held only behind
 * others. `undone`: those among them that need not go out.
 */
function releasedFrom(item: Plain, outbox: Plain) {
  const held = outboxOf(item).filter(({ waits }) => waits === 'held');
  const revisions = new Set(held.map(({ revision }) => revision));
  const released = outboxOf({ ...item, outbox }).filter(
    ({ revision, waits }) => waits !== 'held' && revisions.has(revision),
  );
  const events = released.map(({ revision, raw: { told } }) => ({ revision, told }));
  const known = parseCertification(item);
  const isLast = released.at(-1)?.revision === known.revision;
  return { released, undone: detours(events, isLast ? toldOf(known) : undefined) };
}

/** The notes that a decision adds to the history. */
function notesOf(
  item: Plain,
  decided: ReadonlySet<number>,
  undone: ReadonlySet<number>,
  note: z.output<typeof decisionsNoted>['decisions'][number],
): Plain {
  const nameOf = (revision: number) => `revision:${revision}`;
  const isPresent = (name: string) => item[name] !== undefined;
  const decisions = [...decided]
    .map(nameOf)
    .filter(isPresent)
    .map((name): [string, unknown] => {
      const { decisions } = parse(decisionsNoted, item, item[name]);
      return [`${name}${part}decisions`, [...decisions, note]];
    });
  const ends = [...undone]
    .map(nameOf)
    .filter(isPresent)
    .map((name): [string, unknown] => [`${name}${part}undone`, true]);
  return Object.fromEntries([...decisions, ...ends]);
}

function entryAfter(
  { revision, raw }: Entry,
  decided: ReadonlySet<number>,
  decision: Decision,
): [revision: number, raw: Plain][] {
  if (!decided.has(revision)) return [[revision, raw]];
  const { held: _, undeliverable: __, ...rest } = raw;
  if (decision === 'discarded') return [];
  return [[revision, decision === 'released-to-people' ? { ...rest, owes: 'digest' } : rest]];
}
