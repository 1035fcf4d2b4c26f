import * as z from 'zod/mini';
import { type Stretch, type StretchProgress, stretch, stretchProgress } from '../ports/stretch.ts';
import { attributesOf, fieldsOf, nameOf, parse } from './item.ts';
import type { Plain } from './table.ts';

export const planKey = (integration: string, begunAt: number) => `FANOUT#${integration}#${begunAt}`;

/** No two stretches of a plan end on the same day. */
export const stretchKey = (integration: string, { begunAt, to }: Stretch) =>
  `STRETCH#${integration}#${begunAt}#${to}`;

const planItem = z.object({
  begunAt: z.number(),
  stretches: z.array(z.omit(stretch.def.innerType, { begunAt: true })),
});

export function parsePlan(item: Plain): Stretch[] {
  const { begunAt, stretches } = parse(planItem, fieldsOf(item), nameOf(item));
  return stretches.map((planned) => ({ begunAt, ...planned }));
}

/** At most about a thousand stretches of 60 bytes each: far below an item's 400 KB. */
export function planAttributes(begunAt: number, stretches: readonly Stretch[]): Plain {
  return attributesOf(z.encode(planItem, { begunAt, stretches: [...stretches] }));
}

export const parseProgress = (item: Plain): StretchProgress =>
  parse(stretchProgress, fieldsOf(item), nameOf(item));

export const progressAttributes = (progress: StretchProgress): Plain =>
  attributesOf(z.encode(stretchProgress, { ...progress, bookmark: progress.bookmark }));
