import * as z from 'zod/mini';
import type { Told } from '../detection/compare.ts';
import { certificationEventSchema } from '../events/event.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import { jsonText } from '../json-text.ts';
import { ledgerTable } from '../names.ts';
import type { Undelivered } from '../ports/ledger.ts';
import { nameOf, parse } from './item.ts';
import type { Plain } from './table.ts';

/**
 * What an entry of an outbox waits for: to be published; to be told of in a digest, once it was
 * published; ops, who release what is held; ops again, because SNS refused it for good.
 *
 * An item is in the index under one of them: the first, in this order, that an entry of it waits for.
 */
export const waits = ['pending', 'digest', 'held', 'undeliverable'] as const;
export type Waits = (typeof waits)[number];

export const undeliveredKey = (integration: string, wait: Waits) => `${integration}#${wait}`;

/** Counts what has been written to the outbox: who files an item must have seen the last of it. */
export const outboxWrites = 'outbox_writes';

const marks = z.object({
  owes: z.enum(['event-and-digest', 'digest']),
  held: z.optional(z.boolean()),
  /** Of one that is held: what subscribers knew before it. */
  told: z.optional(z.string()),
  /** The code with which SNS refused it for good. */
  undeliverable: z.optional(z.string()),
});
/** The event as it is published. */
const entry = z.extend(marks, { event: z.string() });
const revision = z.string().check(z.regex(/^\d+$/));
const outboxOf = <Entry extends z.ZodMiniType>(entry: Entry) =>
  // An item that was written before there was an outbox owes nothing.
  z.object({ outbox: z._default(z.record(revision, entry), {}) });

/** As it is written: what an entry has besides is kept as it is. */
export const rawOutbox = z.object({
  outbox: z._default(
    z.record(
      z.string(),
      z.looseObject({ held: z.optional(z.boolean()), undeliverable: z.optional(z.string()) }),
    ),
    () => ({}),
  ),
});

/** Read apart from the certification: what is wrong with an event must not hide what is known. */
const outboxItem = z.extend(outboxOf(entry), { [ledgerTable.byDay.sortKey]: z.int() });
const markedItem = outboxOf(marks);
const eventBody = z.pipe(jsonText, certificationEventSchema);

/** What each revision in the outbox waits for, in their order, without a look at the events. */
export function waitsOf(item: Plain): Map<number, Waits> {
  return sorted(parse(markedItem, item).outbox);
}

/** Whether nothing else is owed, and nothing of it was ever offered to SNS. */
export function isAllHeld(item: Plain): boolean {
  const marks = markedItem.safeParse(item);
  if (!marks.success) return false;
  const waits = [...sorted(marks.data.outbox).values()];
  return waits.length > 0 && waits.every((wait) => wait === 'held');
}

/** What subscribers know of what all is held of; `undefined`: that was not noted. */
export function toldBefore(item: Plain): Told | undefined {
  const { outbox } = parse(markedItem, item);
  const [oldest] = sorted(outbox).keys();
  return oldest === undefined ? undefined : outbox[oldest]?.told;
}

/** Revisions that subscribers have not been sent. */
export function undeliveredOf(item: Plain): Map<number, Undelivered> {
  const all = waitsOf(item);
  return new Map(
    [...all].flatMap(([revision, wait]) => (wait === 'digest' ? [] : [[revision, wait] as const])),
  );
}

/** Under which the item is to be found; `undefined` when nothing is owed. */
export function waitOf(item: Plain): Waits | undefined {
  const found = new Set(waitsOf(item).values());
  return waits.find((wait) => found.has(wait));
}

/** The events of the outbox that wait for one of these, in the order of their revisions. */
export function parseOutbox(item: Plain, waits: readonly Waits[]): OwedEvent[] {
  const { outbox, assessment_id: certificationId } = parse(outboxItem, item);
  return [...sorted(outbox)].flatMap(([revision, waitsFor]) => {
    const entry = outbox[revision];
    if (entry === undefined || !waits.includes(waitsFor)) return [];
    const event = parse(eventBody, entry.event, nameOf(item));
    return [{ certificationId, revision, event, owes: entry.owes }];
  });
}

/** Order is kept within a certification, so what comes after a held event is held with it. */
function sorted(outbox: Readonly<Record<string, z.output<typeof marks>>>): Map<number, Waits> {
  const waits = new Map<number, Waits>();
  const entries = Object.entries(outbox).sort(([a], [b]) => Number(a) - Number(b));
  let isBehindHeld = false;
  for (const [revision, { owes, held, undeliverable }] of entries) {
    isBehindHeld ||= held === true && undeliverable === undefined;
    const published = isBehindHeld ? 'held' : 'pending';
    const undelivered = undeliverable === undefined ? published : 'undeliverable';
    waits.set(Number(revision), owes === 'digest' ? 'digest' : undelivered);
  }
  return waits;
}

export function outboxEntryOf(event: object, destiny: 'pending' | 'held', told: Told): Plain {
  const held = destiny === 'held' ? { held: true, told } : {};
  return { event: JSON.stringify(event), owes: 'event-and-digest', ...held };
}
