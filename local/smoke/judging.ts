import type { TimetableChange } from '../partner-sandbox/timetable.ts';

/** An event as the queue had it. */
export interface Heard {
  readonly id: string;
  /** Without its prefix: `created`. */
  readonly type: string;
  /** Of the assessment. */
  readonly about: number;
  /** That the assessment belongs to. */
  readonly organizationId: number | null;
}

/**
 * Types that tell of a change. One that is restored may be created: it was away when the notifier
 * read its baseline, and nobody was told of it before. One that is edited may be created, too, as it is
 * since the edit: it was edited before the notifier saw it for the first time.
 */
const tellingOf: Readonly<Record<TimetableChange['kind'], readonly string[]>> = {
  completed: ['created'],
  backdated: ['created'],
  edited: ['updated', 'created'],
  removed: ['withdrawn'],
  restored: ['restored', 'created'],
};

export const tells = (change: TimetableChange, { type, about, organizationId }: Heard): boolean =>
  about === change.id &&
  tellingOf[change.kind].includes(type) &&
  (change.organizationId ?? organizationId) === organizationId;

/** The changes that no event tells of, in order. */
export function untold(
  due: readonly TimetableChange[],
  heard: readonly Heard[],
): TimetableChange[] {
  return due.filter((change) => !heard.some((event) => tells(change, event)));
}

/**
 * The false events and the doubled ones; none, as it should be. Each kind of change happens to an assessment
 * once, so a second id of a type is a second event; the same id again is a repeated delivery, which is allowed.
 *
 * @param happened every change so far
 */
export function falsehoods(
  happened: readonly TimetableChange[],
  heard: readonly Heard[],
): string[] {
  const changes = Map.groupBy(happened, ({ id }) => id);
  const wrong = new Map<string, string>();
  const first = new Map<string, string>();
  // Test events are of no assessment.
  for (const event of heard.filter(({ about }) => !Number.isNaN(about))) {
    const { id, type, about } = event;
    const isTrue = changes.get(about)?.some((change) => tells(change, event)) ?? false;
    const before = first.get(`${about}/${type}`) ?? id;
    first.set(`${about}/${type}`, before);
    if (!isTrue) wrong.set(id, `${id} says ${type}, and nothing like it has happened`);
    else if (before !== id) wrong.set(id, `${id} says ${type}, as ${before} has before`);
  }
  return [...wrong.values()];
}

/** A day of a certificate (`prove`). */
interface Certified {
  readonly day: string;
  readonly state: string;
  readonly count: number;
  readonly since?: number | undefined;
}

/**
 * Days that are over and are not proven, or whose number is not that of the world.
 *
 * @param inWorld how many the world has by day
 * @param moving days on which something has happened just now
 */
export function wrongDays(
  certificate: readonly Certified[],
  inWorld: ReadonlyMap<string, number>,
  moving: ReadonlySet<string>,
): string[] {
  return certificate.flatMap(({ day, state, count, since = 0 }) => {
    if (moving.has(day) || state === 'not-yet') return [];
    const [known, there] = [count + since, inWorld.get(day) ?? 0];
    if (known !== there) return [`${day}: ${known} known, ${there} in the world`];
    return state === 'unproven' ? [`${day}: unproven`] : [];
  });
}
