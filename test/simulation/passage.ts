import type { Temporal } from 'temporal-polyfill';
import { LedgerUnavailableError } from '../../lambda/ledger/errors.ts';
import { TimedOutError } from '../../lambda/partner/errors.ts';
import type { PartnerClient } from '../../lambda/partner/index.ts';
import type { Announcer, Ledger } from '../../lambda/ports.ts';
import type { Note } from './coverage.ts';
import type { Random } from './random.ts';
import type { Timeline } from './timeline.ts';

/** What can befall a call on its way. Probabilities, of each call. */
export interface Dangers {
  /** The tick is killed before or after it. */
  readonly kill: number;
  /** It is done, and the answer is lost. */
  readonly loss: number;
  /** It is held up for longer than the lease lasts, and the tick goes on all the same. */
  readonly freeze: number;
  /** It takes seconds. */
  readonly delay: number;
}

export const safe: Dangers = { kill: 0, loss: 0, freeze: 0, delay: 0 };

export class Killed extends Error {}

/** One invocation, as its surroundings see it. */
export class Invocation {
  readonly id: string;
  readonly deadlineMs: number;
  requests = 0;
  reads = 0;
  writes = 0;
  publications = 0;
  /** Of its calls to the ledger and the announcer, whose time-outs are not the tick's to set. */
  longestCallMs = 0;
  /** Requests of its longest read. */
  longestRead = 0;
  isFrozen = false;
  end: 'killed' | 'out of time' | undefined;

  constructor(id: string, deadline: Temporal.Instant) {
    this.id = id;
    this.deadlineMs = deadline.epochMilliseconds;
  }
}

const pagewise = new Set(['leftovers', 'kept']);
const ledgerReads = new Set([
  ...pagewise,
  ...['state', 'recordedState', 'known', 'lives', 'knownOfDay', 'calendar', 'countKept'],
]);
/** How much later than its sender's end a request may still arrive. */
const latestArrivalMs = 4_000;
/** The partner's client gives an attempt up after so long. */
const longestRequestMs = 20_000;
/** The clients of AWS do. */
const longestAwsCallMs = 5_000;

/** For which no request is made at all. */
const isNothing = (value: unknown) =>
  (Array.isArray(value) && value.length === 0) || (value instanceof Map && value.size === 0);

/** The way of every call of a tick: it takes time, and the tick may end at any point of it. */
export class Passage {
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #note: Note;
  dangers: Dangers = safe;
  /** About how long a request to the partner takes, and a call to AWS. */
  pace = { partnerMs: 20, awsMs: 20 };
  /** Told of each call, for a replay. */
  trace: (line: string) => void = () => undefined;

  constructor(timeline: Timeline, random: Random, note: Note) {
    this.#timeline = timeline;
    this.#random = random;
    this.#note = note;
  }

  client(
    host: Pick<PartnerClient, 'list' | 'get'>,
    invocation: Invocation,
  ): Pick<PartnerClient, 'list' | 'get'> {
    const ask = async <Answer>(
      kind: 'list' | 'get',
      asked: unknown,
      deadline: Temporal.Instant | undefined,
      perform: () => Promise<Answer>,
    ) => {
      invocation.requests += 1;
      this.trace(`${invocation.id} ${kind} ${JSON.stringify(asked)}`);
      const until = deadline?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
      const duration = this.#duration(this.pace.partnerMs, longestRequestMs);
      await this.#travel(invocation, Math.min(duration / 2, until - this.#timeline.nowMs));
      const answer = await perform();
      await this.#travel(invocation, Math.min(duration / 2, until - this.#timeline.nowMs));
      // The client waits for nothing beyond the deadline that it was given.
      if (this.#timeline.nowMs >= until) throw new TimedOutError(kind, 'deadline');
      return answer;
    };
    return {
      list: (query, options) => ask('list', query, options?.deadline, () => host.list(query)),
      get: (id, options) => ask('get', id, options?.deadline, () => host.get(id)),
    };
  }

  ledger<OfTicks extends Ledger>(ledger: OfTicks, invocation: Invocation): OfTicks {
    return this.#port(ledger, invocation, (name) => {
      if (ledgerReads.has(name)) invocation.reads += 1;
      else invocation.writes += 1;
    });
  }

  announcer(announcer: Announcer, invocation: Invocation): Announcer {
    return this.#port(announcer, invocation, () => {
      invocation.publications += 1;
    });
  }

  #port<Port extends object>(
    port: Port,
    invocation: Invocation,
    count: (name: string) => void,
  ): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return (...values: unknown[]) => {
          // Making a draft is no call; sending it happens within this process's time.
          if (name === 'digest' || isNothing(values[0])) return method.apply(target, values);
          count(String(name));
          this.trace(`${invocation.id} ${String(name)}`);
          const perform = () => method.apply(target, values);
          return pagewise.has(String(name))
            ? this.#pages(invocation, perform)
            : this.#call(invocation, perform);
        };
      },
    });
  }

  async *#pages(invocation: Invocation, perform: () => AsyncIterable<unknown>) {
    await this.#call(invocation, async () => undefined);
    yield* perform();
  }

  async #call(invocation: Invocation, perform: () => Promise<unknown>): Promise<unknown> {
    const startedAt = this.#timeline.nowMs;
    const duration = this.#duration(this.pace.awsMs, longestAwsCallMs);
    await this.#travel(invocation, duration / 2, perform);
    if (this.#random.chance(this.dangers.freeze)) {
      this.#note('lost lease');
      invocation.isFrozen = true;
      await this.#timeline.sleep(90_000);
    }
    const answer = await perform();
    await this.#travel(invocation, duration / 2);
    invocation.longestCallMs = Math.max(invocation.longestCallMs, this.#timeline.nowMs - startedAt);
    if (this.#random.chance(this.dangers.loss)) {
      this.#note('lost answer');
      throw new LedgerUnavailableError('a call', {});
    }
    return answer;
  }

  #duration(pace: number, longest: number): number {
    if (this.#random.chance(this.dangers.delay)) {
      this.#note('slow call');
      return longest * this.#random.next();
    }
    return pace * (0.2 + 1.6 * this.#random.next());
  }

  /** @param perform what may still be done after the death of who sent it */
  async #travel(
    invocation: Invocation,
    ms: number,
    perform?: () => Promise<unknown>,
  ): Promise<void> {
    if (invocation.end !== undefined) throw new Killed();
    const left = invocation.isFrozen
      ? Number.POSITIVE_INFINITY
      : invocation.deadlineMs - this.#timeline.nowMs;
    if (this.#random.chance(this.dangers.kill)) invocation.end = 'killed';
    else if (ms >= left) invocation.end = 'out of time';
    await this.#timeline.sleep(Math.min(ms, left));
    if (invocation.end === undefined) return;
    if (perform && this.#random.chance(0.5)) {
      this.#note('late arrival');
      const late = this.#timeline.sleep(Math.min(latestArrivalMs, Math.max(0, ms - left)));
      // Nobody is there any more to hear how it went.
      void late.then(perform).catch(() => undefined);
    }
    throw new Killed();
  }
}
