import * as z from 'zod/mini';
import { plainDay } from '../detection/days.ts';
import type { Stretch, StretchProgress } from '../fan-out/parts.ts';
import { bookmark } from '../ports/partner-reader.ts';
import { attributesOf, fieldsOf, nameOf, parse } from './item.ts';
import type { Plain } from './table.ts';

export const planKey = (integration: string, begunAt: number) => `FANOUT#${integration}#${begunAt}`;

/** No two stretches of a plan end on the same day. */
export const stretchKey = (integration: string, { begunAt, to }: Stretch) =>
  `STRETCH#${integration}#${begunAt}#${to}`;

const planItem = z.object({
  begunAt: z.number(),
  stretches: z.array(
    z.object({
      from: plainDay,
      to: plainDay,
      sliceDays: z.int().check(z.positive()),
      isOldest: z.exactOptional(z.literal(true)),
    }),
  ),
});

const stretchItem = z.object({
  isDone: z._default(z.boolean(), false),
  recorded: z._default(z.int(), 0),
  before: z.optional(plainDay),
  sliceDays: z.exactOptional(z.number().check(z.positive())),
  bookmark: z.optional(bookmark),
});

export function parsePlan(item: Plain): Stretch[] {
  const { begunAt, stretches } = parse(planItem, fieldsOf(item), nameOf(item));
  return stretches.map((stretch) => ({ begunAt, ...stretch }));
}

/** At most about a thousand stretches of 60 bytes each: far below an item's 400 KB. */
export function planAttributes(begunAt: number, stretches: readonly Stretch[]): Plain {
  return attributesOf(z.encode(planItem, { begunAt, stretches: [...stretches] }));
}

export const parseProgress = (item: Plain): StretchProgress =>
  parse(stretchItem, fieldsOf(item), nameOf(item));

export const progressAttributes = (progress: StretchProgress): Plain =>
  attributesOf(z.encode(stretchItem, { ...progress, bookmark: progress.bookmark }));
