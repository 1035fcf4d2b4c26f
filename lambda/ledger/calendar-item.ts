import * as z from 'zod/mini';
import type { DayEntry } from '../detection/calendar.ts';
import { nameOf, parse } from './item.ts';
import type { Plain } from './table.ts';

/** @param month `YYYY-MM` */
export const calendarKey = (integration: string, month: string) =>
  `CALENDAR#${integration}#${month}`;

const proofItem = z.object({
  kind: z.optional(z.enum(['single-page', 'key-seam', 'split'])),
  at: z.optional(z.number()),
  count: z.optional(z.int()),
  digest: z.optional(z.string()),
  read_at: z.number(),
  unproven_since: z.optional(z.number()),
  due_at: z.optional(z.number()),
  asked_at: z.optional(z.number()),
  failures: z.optional(z.int()),
  together: z.optional(z.int()),
});

/** A month of the calendar: per day two numbers, and one map about the last read. */
export const countAttribute = (day: string) => `count:${day}`;
/** By itself, so that only a read that looked for what is missing writes it. */
export const missingAttribute = (day: string) => `missing:${day}`;
export const proofAttribute = (day: string) => `proof:${day}`;

export function parseMonth(item: Plain): [day: string, entry: DayEntry][] {
  const days = Object.keys(item).flatMap((name) => /^(?:count|proof):(.+)$/.exec(name)?.[1] ?? []);
  return [...new Set(days)].map((day) => {
    const count = parse(z._default(z.int(), 0), item[countAttribute(day)], nameOf(item));
    const missing = parse(z.optional(z.int()), item[missingAttribute(day)], nameOf(item));
    const read = parse(z.optional(proofItem), item[proofAttribute(day)], nameOf(item));
    const { kind, at, count: found, digest, read_at = 0, unproven_since, due_at } = read ?? {};
    const { asked_at, failures, together } = read ?? {};
    const isProven = kind !== undefined && at !== undefined && found !== undefined;
    return [
      day,
      {
        count,
        readAt: read_at,
        ...(missing !== undefined && { missing }),
        ...(digest !== undefined && { digest }),
        ...(isProven && { proof: { kind, at, count: found } }),
        ...(unproven_since !== undefined && { unprovenSince: unproven_since }),
        ...(due_at !== undefined && { dueAt: due_at }),
        ...(asked_at !== undefined && { askedAt: asked_at }),
        ...(failures !== undefined && { failures }),
        ...(together !== undefined && { together }),
      },
    ];
  });
}

export function proofItemOf(entry: DayEntry): Plain {
  const { proof, digest, readAt, unprovenSince, dueAt, askedAt, failures, together } = entry;
  return {
    ...proof,
    ...(digest !== undefined && { digest }),
    read_at: readAt,
    ...(unprovenSince !== undefined && { unproven_since: unprovenSince }),
    ...(dueAt !== undefined && { due_at: dueAt }),
    ...(askedAt !== undefined && { asked_at: askedAt }),
    ...(failures !== undefined && { failures }),
    ...(together !== undefined && { together }),
  };
}
