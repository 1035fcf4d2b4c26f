import * as z from 'zod/mini';
import { detours, found, toldOf } from '../decisions/compare.ts';
import { revisionNoted } from '../decisions/history.ts';
import type { Decided, Ledger, WaitingEvent } from '../ports/ledger.ts';
import { eventsOf, noted, outboxOf, parseCertification } from './certification-item.ts';
import { parse } from './item.ts';
import type { Plain } from './table.ts';

/** Parsed by themselves: nothing else in the history may block a decision. */
const decisionsNoted = z.pick(revisionNoted, { decisions: true });
const reasonNoted = z.object({ found: z.pick(found, { reason: true }) });

type Asked = Parameters<Ledger['decide']> extends [unknown, ...infer Rest] ? Rest : never;

/**
 * Carries out a decision about held or undeliverable events on an item: its new outbox, and notes
 * for its history. Without an outbox, nothing is to be written.
 */
export function decided(
  item: Plain,
  ...[waits, decision, choose, now]: Asked
): Decided & { readonly outbox?: Plain; readonly notes?: Plain } {
  const { events, behind } = chosen(item, waits, decision, choose, now);
  if (events.length === 0) return { done: [], behind, freed: 0, undone: 0 };
  const revisions = new Set(events.map(({ revision }) => revision));
  const entries = outboxOf(item).flatMap(({ revision, raw }): [number, Plain][] => {
    if (!revisions.has(revision)) return [[revision, raw]];
    const { held: _, undeliverable: __, ...rest } = raw;
    if (decision === 'discarded') return [];
    return [[revision, decision === 'released-to-people' ? { ...rest, owes: 'digest' } : rest]];
  });
  const { released, undone } = releasedFrom(item, Object.fromEntries(entries));
  const isNews = ({ revision }: { revision: number }) => !undone.has(revision);
  const note = { decision, at: now.toString() };
  const decisionsOf = (notes: unknown) => parse(decisionsNoted, item, notes).decisions;
  return {
    done: events.filter(isNews).map((one) => ({ ...one, ...reasonOf(item, one) })),
    behind,
    freed: released.filter((one) => isNews(one) && !revisions.has(one.revision)).length,
    undone: undone.size,
    outbox: Object.fromEntries(entries.filter(([revision]) => !undone.has(revision))),
    notes: {
      ...noted(item, revisions, 'decisions', (notes) => [...decisionsOf(notes), note]),
      ...noted(item, undone, 'undone', () => true),
    },
  };
}

/** An event can be released only if no event before it stays held. */
function chosen(item: Plain, ...[waits, decision, choose]: Asked) {
  const isHeld = new Map(outboxOf(item).map(({ revision, raw }) => [revision, raw.held]));
  const isOrdered = waits === 'held' && decision !== 'discarded';
  const events: WaitingEvent[] = [];
  let behind = 0;
  let isBlocked = false;
  for (const event of eventsOf(item, [waits])) {
    if (!choose(event)) isBlocked ||= isHeld.get(event.revision) === true;
    else if (isOrdered && isBlocked) behind += 1;
    else events.push(event);
  }
  return { events, behind };
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
