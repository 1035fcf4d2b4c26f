import * as z from 'zod/mini';
import type { Change } from './compare.ts';

type Counts = Readonly<Record<Change['kind'], number>>;

/** Changes of one day, announced or held. */
export const dayTally = z.readonly(
  z.object({
    /** In the partner's time zone. */
    day: z.iso.date(),
    created: z.int(),
    updated: z.int(),
    withdrawn: z.int(),
    restored: z.int(),
  }),
);

export type DayTally = z.output<typeof dayTally>;

/** @returns `undefined` when nothing has changed: then nothing need be written */
export function tallied(
  before: DayTally | undefined,
  day: string,
  { created, updated, withdrawn, restored }: Counts,
): DayTally | undefined {
  if (created + updated + withdrawn + restored === 0) return undefined;
  const earlier = before?.day === day ? before : undefined;
  return {
    day,
    created: created + (earlier?.created ?? 0),
    updated: updated + (earlier?.updated ?? 0),
    withdrawn: withdrawn + (earlier?.withdrawn ?? 0),
    restored: restored + (earlier?.restored ?? 0),
  };
}
