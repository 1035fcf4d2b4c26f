import { Temporal } from 'temporal-polyfill';
import type { Happenings } from './api.ts';
import { scramble } from './random.ts';
import type { World } from './world.ts';

/** The times of all changes in a world whose changes are known beforehand. */
export interface Timetable {
  readonly seed: number;
  /** The time of the first change, in epoch milliseconds. */
  readonly since: number;
  /** Seconds between two changes. */
  readonly everySeconds: number;
}

export const changeKinds = ['completed', 'backdated', 'edited', 'removed', 'restored'] as const;

export interface TimetableChange {
  readonly kind: (typeof changeKinds)[number];
  /** Epoch milliseconds. */
  readonly at: number;
  /** The assessment's id. */
  readonly id: number;
  /** The new organization of an edited assessment. */
  readonly organizationId?: number;
}

/**
 * How many changes ago the subject of a change was completed. If it is removed, that happens in the third cycle, and it
 * is restored 21 changes later (42 minutes, at two minutes each). The notifier needs 12 minutes until it calls a
 * certification withdrawn, and a slow one needs more.
 */
const changesBack = { completed: 0, backdated: 0, edited: 2, removed: 13, restored: 34 } as const;

/**
 * Seconds from one removal to the next, at least. With more than 25 withdrawals in a rolling day, the notifier takes
 * them for a partner at fault (lambda/decisions/missing.ts).
 */
const removalEverySeconds = 7_200;

/**
 * Each of the first cycles has a removal all the same, so that somebody who starts a demo sees one at once. `npm start`
 * begins with the ninth cycle (local/pace.ts), so its first day has 12 of these removals, and 12 later ones.
 */
const cyclesWithRemoval = 20;

/** Changes a world by a timetable: in each process, the same has happened by the same moment. */
export class Scheduled implements Happenings {
  readonly #world: World;
  readonly #timetable: Timetable;
  /** The index of the next change. */
  #index = 0;
  /** Ids of completed assessments, by the index of that change. */
  readonly #ids = new Map<number, number>();

  constructor(world: World, timetable: Timetable) {
    this.#world = world;
    this.#timetable = timetable;
  }

  /** A clock that was set back shows the same world as before. */
  catchUp(now: number): void {
    for (const _ of this.changesUntil(now));
  }

  /** Makes the changes that have not happened yet, one after another. */
  *changesUntil(now: number): Generator<TimetableChange> {
    const { since, everySeconds } = this.#timetable;
    for (;;) {
      const at = since + this.#index * everySeconds * 1_000;
      if (at > now) return;
      const change = this.#make(this.#index, at);
      this.#index += 1;
      if (change) yield change;
    }
  }

  churn(): void {}

  /** @returns undefined if there is no subject: it would be older than the first, or its removal is left out */
  #make(index: number, at: number): TimetableChange | undefined {
    const world = this.#world;
    const kind = changeKinds[index % changeKinds.length] ?? 'completed';
    const subject = index - changesBack[kind];
    if (subject === index) {
      const { id } = world.add({ completed_at: this.#completion(kind, index, at) });
      this.#ids.set(index, id);
      return { kind, at, id };
    }
    const id = this.#ids.get(subject);
    if (id === undefined) return undefined;
    if (kind !== 'edited' && !this.#isRemoved(subject)) return undefined;
    if (kind === 'removed') world.remove(id);
    else if (kind === 'restored') world.restore(id);
    else {
      const organizationId = this.#anotherOrganization(id);
      world.change(id, { organization_id: organizationId });
      return { kind, at, id, organizationId };
    }
    return { kind, at, id };
  }

  /** @param subject the index of its completion */
  #isRemoved(subject: number): boolean {
    const cycle = Math.floor((subject + changesBack.removed) / changeKinds.length);
    const cycleSeconds = changeKinds.length * this.#timetable.everySeconds;
    return cycle < cyclesWithRemoval || cycle % Math.ceil(removalEverySeconds / cycleSeconds) === 0;
  }

  /** The day of completion. If backdated, it is usually within a month, but sometimes years ago. */
  #completion(kind: TimetableChange['kind'], index: number, at: number): string {
    const chance = scramble(index, this.#timetable.seed);
    const days = kind === 'completed' ? 0 : 1 + (chance % (chance % 3 === 0 ? 3_600 : 30));
    return Temporal.Instant.fromEpochMilliseconds(at)
      .subtract({ hours: 24 * days })
      .toString();
  }

  /** An organization in scope, so that the edit is visible, and changes this record alone. */
  #anotherOrganization(id: number): number {
    const inScope = [...this.#world.scope.organizationIds];
    const present = inScope.indexOf(this.#world.get(id)?.organization_id ?? 0);
    return inScope[(present + 1) % inScope.length] ?? 0;
  }
}
