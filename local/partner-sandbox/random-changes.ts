import { Temporal } from 'temporal-polyfill';
import { daysFrom } from '../../lambda/decisions/days.ts';
import type { Happenings } from './api.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** A limit, for a clock that leaps, such as that of a laptop that slept. */
const mostAtOnce = 10_000;

/** Chance in the world: arrivals as time passes, and changes between two requests. */
export class RandomChanges implements Happenings {
  readonly #world: World;
  readonly #random: Random;
  readonly #certifyEvery: number;
  #next: number;
  readonly #departed: number[] = [];

  /** `certifyEvery` in milliseconds, 0 for never; `now` in epoch milliseconds. */
  constructor(world: World, random: Random, certifyEvery: number, now: number) {
    this.#world = world;
    this.#random = random;
    this.#certifyEvery = certifyEvery;
    this.#next = now + certifyEvery;
  }

  /** Completes the assessments that are due by `now`. Each request calls it, so no timer is needed. */
  catchUp(now: number, backdated: number): void {
    if (this.#certifyEvery <= 0) return;
    for (let added = 0; this.#next <= now && added < mostAtOnce; added++) {
      this.#arrive(this.#next, backdated);
      this.#next += this.#certifyEvery;
    }
    if (this.#next <= now) this.#next = now + this.#certifyEvery;
  }

  /** Makes one change to the world, with a probability. */
  churn(now: number, probability: number, backdated: number): void {
    if (probability === 0 || !this.#random.chance(probability)) return;
    const id = this.#anyVisible();
    const kind = this.#random.below(5);
    if (kind === 0 || id === undefined) this.#arrive(now, backdated);
    else if (kind === 1) {
      this.#world.remove(id);
      this.#departed.push(id);
    } else if (kind === 2) this.#return(now, backdated);
    else if (kind === 3) {
      const { certified_on } = this.#world.change(id, {});
      const days = this.#random.below(60) - 30;
      this.#world.moveTo(
        id,
        `${daysFrom(Temporal.PlainDate.from(certified_on), days) ?? certified_on}`,
      );
    } else this.#world.change(id, { email: `changed.${this.#random.below(1e6)}@example.org` });
  }

  #return(now: number, backdated: number): void {
    const id = this.#departed.shift();
    if (id === undefined) this.#arrive(now, backdated);
    else this.#world.restore(id);
  }

  /** Usually a few days back, sometimes years. */
  #arrive(now: number, backdated: number): void {
    let moment = now;
    if (this.#random.chance(backdated)) {
      const days = this.#random.chance(0.3)
        ? 60 + this.#random.below(3600)
        : 1 + this.#random.below(30);
      moment -= days * 86_400_000;
    }
    this.#world.add({ completed_at: Temporal.Instant.fromEpochMilliseconds(moment).toString() });
  }

  #anyVisible(): number | undefined {
    const { byDay } = this.#world.rows;
    const days = byDay.between();
    if (days.length === 0) return undefined;
    return this.#random.pick(byDay.on(this.#random.pick(days))).assessment.id;
  }
}
