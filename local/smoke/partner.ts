import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import { type Clock, systemClock } from '../../lambda/clock.ts';
import { NotFoundError } from '../../ops/errors.ts';
import {
  type ScheduledWorldOptions,
  scheduledWorld,
  scheduledWorldSchema,
} from '../partner-sandbox/scheduled-world.ts';
import type { TimetableChange } from '../partner-sandbox/timetable.ts';

const timetableSchema = scheduledWorldSchema.extend({
  /** The partner's clock, in epoch milliseconds. */
  now: z.number(),
});

/** Long, since the sandbox may have to make its world first. */
const answeredWithinMs = 30_000;

/** The partner of a demo. Its world is computed here as well, so its changes are known. */
export class DemoPartner {
  readonly everySeconds: number;
  readonly timeZone: string;
  readonly seed: number;
  /** The changes so far, in order. */
  readonly happened: TimetableChange[] = [];
  readonly #made: ReturnType<typeof scheduledWorld>;
  readonly #now: () => number;

  private constructor(options: ScheduledWorldOptions, now: () => number) {
    this.everySeconds = options.everySeconds;
    this.timeZone = options.timeZone;
    this.seed = options.seed;
    this.#now = now;
    const clock = { ...systemClock, now: () => Temporal.Instant.fromEpochMilliseconds(now()) };
    this.#made = scheduledWorld(options, clock);
  }

  /** @throws NotFoundError */
  static async ask(baseUrl: string, clock: Clock): Promise<DemoPartner> {
    const signal = AbortSignal.timeout(answeredWithinMs);
    const asked = clock.now().epochMilliseconds;
    const response = await fetch(new URL('/timetable', baseUrl), { signal }).catch((cause) => {
      throw noDemo(baseUrl, 'it does not answer', { cause });
    });
    const body: unknown = await response.json().catch(() => undefined);
    const { data } = timetableSchema.safeParse(body);
    if (data === undefined) throw noDemo(baseUrl, `it answers ${response.status}`);
    // The partner's clock counts, if the two differ by more than the answer took. A slow answer is no difference of
    // clocks. With a clock that is too far back, earlier changes would be waited for.
    const ahead = data.now - Math.min(Math.max(data.now, asked), clock.now().epochMilliseconds);
    return new DemoPartner(data, () => clock.now().epochMilliseconds + ahead);
  }

  /** The partner's time, in epoch milliseconds. */
  now(): number {
    return this.#now();
  }

  /** Makes the changes here that the partner has made. */
  catchUp(): void {
    for (const change of this.#made.life.changesUntil(this.#now())) this.happened.push(change);
  }

  /** The number of certifications of each day. */
  byDay(): ReadonlyMap<string, number> {
    const days = new Map<string, number>();
    for (const { certified_on } of this.#made.world.assessments())
      days.set(certified_on, (days.get(certified_on) ?? 0) + 1);
    return days;
  }

  /** The days of the assessments that have changed since a moment. */
  movedSince(moment: number): ReadonlySet<string> {
    return new Set(
      this.happened
        .filter(({ at }) => at >= moment)
        .flatMap(({ id }) => this.#made.world.get(id)?.certified_on ?? []),
    );
  }
}

/** @param found the partner's answer, in a few words */
const noDemo = (baseUrl: string, found: string, options?: ErrorOptions) =>
  new NotFoundError(
    `The partner ${baseUrl} is not that of a demo (${found}).`,
    'Deploy one with npx cdk deploy -c demo=true, or start one here with npm start -- --demo.',
    options,
  );
