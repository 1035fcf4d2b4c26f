import type { Change } from './compare.ts';

type Counts = Readonly<Record<Change['kind'], number>>;

/** Changes of one day, announced or held. */
export interface DayTally extends Counts {
  /** In the platform's time zone. */
  readonly day: string;
}

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
