import * as z from 'zod/mini';
import type { Stretch, StretchProgress } from '../fan-out/parts.ts';
import { parse } from './item.ts';
import { bookmark, bookmarkAttributes, bookmarkOf, day } from './state-item.ts';
import type { Plain } from './table.ts';

export const planKey = (integration: string, begunAt: number) => `FANOUT#${integration}#${begunAt}`;

/** No two stretches of a plan end on the same day. */
export const stretchKey = (integration: string, { begunAt, to }: Stretch) =>
  `STRETCH#${integration}#${begunAt}#${to}`;

const planItem = z.object({
  begun_at: z.number(),
  stretches: z.array(
    z.object({
      from: day,
      to: day,
      slice_days: z.int().check(z.positive()),
      is_oldest: z.optional(z.literal(true)),
    }),
  ),
});

const stretchItem = z.object({
  is_done: z._default(z.boolean(), false),
  recorded: z._default(z.int(), 0),
  before: z.optional(day),
  slice_days: z.optional(z.number().check(z.positive())),
  bookmark: z.nullish(bookmark),
});

export function parsePlan(item: Plain): Stretch[] {
  const { begun_at: begunAt, stretches } = parse(planItem, item);
  return stretches.map(({ from, to, slice_days, is_oldest }) => ({
    begunAt,
    from,
    to,
    sliceDays: slice_days,
    ...(is_oldest && { isOldest: is_oldest }),
  }));
}

/** At most about a thousand stretches of 60 bytes each: far below an item's 400 KB. */
export function planAttributes(begunAt: number, stretches: readonly Stretch[]): Plain {
  return {
    begun_at: begunAt,
    stretches: stretches.map(({ from, to, sliceDays, isOldest }) => ({
      from: from.toString(),
      to: to.toString(),
      slice_days: sliceDays,
      ...(isOldest && { is_oldest: isOldest }),
    })),
  };
}

export function parseProgress(item: Plain): StretchProgress {
  const { is_done, recorded, before, slice_days, bookmark } = parse(stretchItem, item);
  return {
    isDone: is_done,
    recorded,
    ...(before && { before }),
    ...(slice_days !== undefined && { sliceDays: slice_days }),
    ...(bookmark && { bookmark: bookmarkOf(bookmark) }),
  };
}

export function progressAttributes(progress: StretchProgress): Plain {
  const { isDone, recorded, before, sliceDays, bookmark } = progress;
  return {
    is_done: isDone,
    recorded,
    ...(before && { before: before.toString() }),
    ...(sliceDays !== undefined && { slice_days: sliceDays }),
    bookmark: bookmark ? bookmarkAttributes(bookmark) : null,
  };
}
