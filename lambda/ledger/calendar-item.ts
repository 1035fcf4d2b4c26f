import * as z from 'zod/mini';
import { type DayEntry, dayReads, proof } from '../detection/calendar.ts';
import { attributesOf, fieldsOf, nameOf, parse } from './item.ts';
import type { Plain } from './table.ts';

/** @param month `YYYY-MM` */
export const calendarKey = (integration: string, month: string) =>
  `CALENDAR#${integration}#${month}`;

const count = z._default(z.int(), 0);
const missing = z.optional(z.int());
/** The proof's fields and the others side by side. */
const reads = z.extend(z.partial(proof), dayReads.shape);
const readsOrNone = z._default(reads, { readAt: 0 });

/** A month of the calendar: per day two numbers, and one map about the last read. */
export const countAttribute = (day: string) => `count:${day}`;
/** By itself, so that only a read that looked for what is missing writes it. */
export const missingAttribute = (day: string) => `missing:${day}`;
export const proofAttribute = (day: string) => `proof:${day}`;

export function parseMonth(item: Plain): [day: string, entry: DayEntry][] {
  const fields = fieldsOf(item);
  const days = Object.keys(item).flatMap((name) => /^(?:count|proof):(.+)$/.exec(name)?.[1] ?? []);
  return [...new Set(days)].map((day) => {
    const of = <Schema extends z.ZodMiniType>(schema: Schema, name: (day: string) => string) =>
      parse(schema, fields[name(day)], nameOf(item));
    const { kind, at, count: found, ...read } = of(readsOrNone, proofAttribute);
    const lacked = of(missing, missingAttribute);
    const isProven = kind !== undefined && at !== undefined && found !== undefined;
    return [
      day,
      {
        ...read,
        count: of(count, countAttribute),
        ...(lacked !== undefined && { missing: lacked }),
        ...(isProven && { proof: { kind, at, count: found } }),
      },
    ];
  });
}

export function proofItemOf({ count: _, proof, ...read }: DayEntry): Plain {
  return attributesOf(z.encode(reads, { ...read, ...proof }));
}
