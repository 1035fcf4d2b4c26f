import type { Clock } from '../../lambda/clock.ts';
import { LedgerUnavailableError } from '../../lambda/ledger/errors.ts';
import { createPartnerClient } from '../../lambda/partner/client.ts';
import type { PartnerClient } from '../../lambda/partner/index.ts';
import { secretCredentials } from '../../lambda/partner/secret.ts';
import type { Announcer } from '../../lambda/ports/announcer.ts';
import { dispatcherTo, type HostAnswer, type HttpRequest } from '../scaffold/partner.ts';
import { isNothing, ledgerReads, pagewise } from '../scaffold/ports.ts';
import { Part } from './part.ts';
import type { Plan } from './plan.ts';
import { Random } from './random.ts';
import { rowsReadOnce } from './rows-read.ts';

/** Dangers of a call on its way. */
type Dangers = Pick<Plan, 'kill' | 'loss' | 'freeze' | 'delay'>;

export const safe: Dangers = { kill: 0, loss: 0, freeze: 0, delay: 0 };

/** One invocation, as its surroundings see it. */
export class Invocation {
  readonly id: string;
  readonly deadlineMs: number;
  readonly random: Random;
  /** Calls of the client, each of which may take several requests. */
  calls = 0;
  /** For assessments, and for tokens. */
  requests = 0;
  tokens = 0;
  /** Tokens requested although the process had a valid one. */
  needlessTokens = 0;
  reads = 0;
  writes = 0;
  /** Writes that only note told conditions. */
  notes = 0;
  publications = 0;
  /** The longest of its calls to the ledger and the announcer, whose time-outs the tick does not set. */
  longestCallMs = 0;
  /** When the calls began that have not ended. A process that dies learns nothing of their ends. */
  readonly underWay = new Set<{ readonly since: number }>();
  /** Requests of its longest read. */
  longestRead = 0;
  isFrozen = false;
  end: 'killed' | 'out of time' | undefined;
  readonly #death = Promise.withResolvers<undefined>();
  /** Resolves when it dies. */
  readonly died = this.#death.promise;

  constructor(id: string, deadlineMs: number, seed: number) {
    this.id = id;
    this.deadlineMs = deadlineMs;
    this.random = Random.of(seed, id);
  }

  die(how: 'killed' | 'out of time'): void {
    this.end = how;
    this.#death.resolve(undefined);
  }
}

/** A process that serves one invocation after another, with its client, until it is killed. */
export interface Environment {
  readonly clock: Clock;
  client: PartnerClient;
  readonly isAlive: boolean;
  /** By how much its clock is ahead, in milliseconds. */
  readonly aheadMs: number;
  invocation: Invocation;
  /** The time until which it has a valid token, in milliseconds. A refused token is not valid. */
  tokenUntil: number;
  /** The time since which it is idle, in milliseconds. */
  idleSince: number;
}

/** The partner's tokens live for two hours, and the client renews them a minute sooner. */
const tokenMs = (7_200 - 60) * 1_000;
/** The longest delay of a request after its sender's end. */
const latestArrivalMs = 4_000;
/** The partner's client gives an attempt up after twenty seconds. */
const longestRequestMs = 24_000;
/** The clients of AWS do so after five. */
const longestAwsCallMs = 5_000;

const isOfConditions = (changes: unknown): boolean =>
  typeof changes === 'object' && changes !== null && Object.keys(changes).join() === 'conditions';

/** The answer for a dead process, which never comes, not even as an error. */
const forever = () => new Promise<never>(() => undefined);

/** The way of each call of a tick: it takes time, and the tick may end at any point of it. */
export class Passage extends Part {
  readonly #readPage = rowsReadOnce();
  dangers: Dangers = safe;
  /** The time of a request to the partner, and of a call to AWS. */
  pace: Pick<Plan, 'partnerMs' | 'awsMs'> = { partnerMs: 20, awsMs: 20 };
  /** Called with each call, for a replay. */
  trace: (line: string) => void = () => undefined;

  invocation(id: string, seconds: number): Invocation {
    return new Invocation(id, this.life.timeline.nowMs + seconds * 1_000, this.life.seed);
  }

  /** A new process, for this invocation first. */
  environment(invocation: Invocation): Environment {
    const life = {
      invocation,
      aheadMs: this.#aheadMs(invocation),
      tokenUntil: 0,
      idleSince: 0,
      get isAlive(): boolean {
        return this.invocation.end === undefined;
      },
    };
    const started = Object.assign(life, { clock: this.life.timeline.seenBy(life) });
    return Object.assign(started, { client: this.newClient(started) });
  }

  #aheadMs({ id }: Invocation): number {
    const { seed, plan, note } = this.life;
    const isAhead = this.dangers !== safe && Random.of(seed, `clock of ${id}`).chance(0.3);
    if (!isAhead || plan.ahead === 0) return 0;
    note('clock ahead', id);
    return plan.ahead * 60_000;
  }

  /** The client that a process makes once. */
  newClient(environment: Omit<Environment, 'client'>): PartnerClient {
    const { clock, invocation } = environment;
    const { seed, partner } = this.life;
    const jitter = Random.of(seed, `jitter of ${invocation.id}`);
    const secret = async () => {
      const { clientId, clientSecret } = partner.access.credentials;
      return JSON.stringify({ client_id: clientId, client_secret: clientSecret });
    };
    return createPartnerClient(
      {
        baseUrl: 'https://partner.example.org',
        credentials: secretCredentials('credentials', secret),
        clock,
        random: () => jitter.next(),
        requestsPerMinute: 6_000,
        dispatcher: dispatcherTo((request, signal) => this.#exchange(request, environment, signal)),
      },
      this.#readPage,
    );
  }

  /** The client, with counted calls. */
  client({ client, invocation }: Environment): Pick<PartnerClient, 'list' | 'get' | 'pace'> {
    const counted =
      <Asked, Options, Answer>(kind: string, ask: (asked: Asked, options: Options) => Answer) =>
      (asked: Asked, options: Options) => {
        invocation.calls += 1;
        this.trace(`${invocation.id} ${kind} ${JSON.stringify(asked)}`);
        return ask(asked, options);
      };
    return {
      pace: client.pace,
      list: counted('list', client.list.bind(client)),
      get: counted('get', client.get.bind(client)),
    };
  }

  /** An HTTP request to the partner. */
  async #exchange(
    request: HttpRequest,
    environment: Omit<Environment, 'client'>,
    signal: AbortSignal,
  ): Promise<HostAnswer | 'reset'> {
    const { invocation } = environment;
    const { timeline, host } = this.life;
    const sentAt = timeline.nowMs;
    const isForToken = request.method === 'POST';
    if (isForToken) invocation.tokens += 1;
    else invocation.requests += 1;
    if (isForToken && sentAt < environment.tokenUntil) invocation.needlessTokens += 1;
    const duration = this.#duration(invocation, this.pace.partnerMs, longestRequestMs);
    await this.#travel(invocation, duration / 2, { signal });
    const answer = await host.respond(request, invocation, signal);
    const status = answer === 'reset' ? answer : answer.status;
    if (status === 'reset' || status >= 300) this.trace(`${invocation.id} is answered ${status}`);
    await this.#travel(invocation, duration / 2, { signal });
    if (status === 401) environment.tokenUntil = 0;
    if (status === 200 && isForToken) environment.tokenUntil = sentAt + tokenMs;
    return answer;
  }

  /** The ledger of ticks or of ops. */
  ledger<Side extends object>(ledger: Side, invocation: Invocation): Side {
    return this.#port(ledger, invocation, (name, changes) => {
      if (ledgerReads.has(name)) invocation.reads += 1;
      else invocation.writes += 1;
      if (name === 'saveState' && isOfConditions(changes)) invocation.notes += 1;
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
    count: (name: string, first: unknown) => void,
  ): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return (...values: unknown[]) => {
          // A draft is no call. It is sent within this process's time.
          if (name === 'digest' || isNothing(values[0])) return method.apply(target, values);
          count(String(name), values[0]);
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
    const { random } = invocation;
    const { timeline, note } = this.life;
    const call = { since: timeline.nowMs };
    invocation.underWay.add(call);
    const duration = this.#duration(invocation, this.pace.awsMs, longestAwsCallMs);
    await this.#travel(invocation, duration / 2, { perform });
    if (random.chance(this.dangers.freeze)) {
      note('lost lease', invocation.id);
      invocation.isFrozen = true;
      await timeline.sleep(90_000);
    }
    const answer = await perform();
    await this.#travel(invocation, duration / 2);
    invocation.underWay.delete(call);
    invocation.longestCallMs = Math.max(invocation.longestCallMs, timeline.nowMs - call.since);
    if (random.chance(this.dangers.loss)) {
      note('lost answer', invocation.id);
      throw new LedgerUnavailableError('a call', {});
    }
    return answer;
  }

  #duration({ id, random }: Invocation, pace: number, longest: number): number {
    if (!random.chance(this.dangers.delay)) return pace * (0.2 + 1.6 * random.next());
    this.life.note('slow call', id);
    return longest * random.next();
  }

  /**
   * Half of a call's way. A process that dies on it learns nothing of that: it never continues.
   *
   * @param signal aborts when the caller has given up waiting, and does something else
   * @param perform the effect, which may still happen after its sender's death
   */
  async #travel(
    invocation: Invocation,
    ms: number,
    { signal, perform }: { signal?: AbortSignal; perform?: () => Promise<unknown> } = {},
  ): Promise<void> {
    if (invocation.end !== undefined) return forever();
    const { random, isFrozen, deadlineMs } = invocation;
    const { timeline, note } = this.life;
    const left = isFrozen ? Number.POSITIVE_INFINITY : deadlineMs - timeline.nowMs;
    const isKilled = random.chance(this.dangers.kill);
    if (isKilled) invocation.end = 'killed';
    await timeline.sleep(Math.min(ms, left), isKilled ? undefined : signal);
    const end = isKilled ? 'killed' : ms >= left ? 'out of time' : undefined;
    if (end !== undefined) invocation.die(end);
    if (invocation.end === undefined) return;
    if (perform && random.chance(0.5)) {
      note('late arrival', invocation.id);
      const late = timeline.sleep(Math.min(latestArrivalMs, Math.max(0, ms - left)));
      // No process is left to hear the outcome.
      void late.then(perform).catch(() => undefined);
    }
    return forever();
  }
}
