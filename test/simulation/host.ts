import { DEFAULT_LIMITS } from '../../lambda/partner/client.ts';
import { defaultSwitches } from '../../local/partner-sandbox/switches.ts';
import type { HostRecord } from '../scaffold/listing.ts';
import {
  type Fault,
  type HostAnswer,
  type HttpRequest,
  htmlPage,
  invalidClient,
  invalidToken,
  isOfDays,
  noAssessments,
  noOrganizations,
  serverError,
  tooManyRequests,
} from '../scaffold/partner.ts';
import type { Life } from './life.ts';
import { Part } from './part.ts';
import type { Invocation } from './passage.ts';
import type { Plan } from './plan.ts';
import { Random } from './random.ts';

export const peaceful = {
  ...{ churn: 0, faults: 0, stumbles: 0, unstableTies: 0 },
  ...{ singleRecordsBroken: 0, zombies: 0, lies: 0, surplus: 0, twins: 0, idsFail: 0, rival: 0 },
  contradicts: 0,
};

type Unrest = Pick<Plan, keyof typeof peaceful>;

type Failure = Exclude<Fault, 'silence'>;

/** A fault of one call, for so many more of its requests. */
interface PendingFault {
  readonly fault: Failure | 'credentials';
  left: number;
}

/** So long the total is too high, or is not. */
const surplusMs = 240_000;

/** A number from 0 to 1 that belongs to an id. */
const shareOf = (id: number) => ((id * 2_654_435_761) % 2 ** 32) / 2 ** 32;

/** A second row under the id of a record. Half of them have another name, and so another place. */
function twinOf(record: HostRecord): HostRecord {
  const { assessment } = record;
  const { id, last_name } = assessment;
  const named = id % 2 === 0 ? {} : { first_name: 'Twin', name: `Twin ${last_name}` };
  return { ...record, assessment: { ...assessment, ...named, email: `twin${id}@example.org` } };
}

/** The time that a tick takes from an answer to its consequence. */
const tickMs = 120_000;

/** Answers of partners that have assigned nothing. Only the status is documented. */
const wordsForNothing: readonly [HostAnswer, ...HostAnswer[]] = [
  noOrganizations,
  noAssessments,
  { status: 400, body: '{"errors":[{"message":"Kein Mandant zugewiesen"}]}' },
  { status: 400, body: '{"errors":"no products"}' },
  { status: 400, headers: { 'content-type': 'text/html' }, body: '<p>Bad request</p>' },
  { status: 400 },
];

const overloaded: HostAnswer = { status: 503, headers: { 'retry-after': '2' } };

/** Faults that end with the next attempt, or the one after it. */
const stumbles: readonly [Failure, ...Failure[]] = [
  ...(['reset', 'half', invalidToken, overloaded, serverError, tooManyRequests(3)] as const),
];

/**
 * The partner's host in the simulation: the partner in memory, over a world that changes between
 * any two requests, with all kinds of failures.
 */
export class Host extends Part {
  readonly #ties = Random.of(this.life.seed, 'ties');
  /** By path: a repeated request meets the same fault. */
  readonly #pendingFaults = new WeakMap<Invocation, Map<string, PendingFault>>();
  readonly #rivals = Random.of(this.life.seed, 'rivals');
  readonly #words = Random.of(this.life.seed, 'words for nothing');
  /** These got the answer to a list without a filter that nothing is assigned. */
  readonly #toldOfNothing = new WeakSet<Invocation>();
  /** Ids that were truly absent when a read began, or when the single-record endpoint said so. */
  #trulyAbsent = new Set<number>();
  #trulyAbsentBefore = new Set<number>();
  unrest: Unrest = peaceful;
  /** The greatest age of an answer from a replica or a cache. */
  readonly oldestAnswerMs = this.life.partner.replicaLagMs + this.life.partner.cacheMs;
  /** Ids whose lookups fail. */
  unfetchable: ReadonlySet<number> = new Set();
  /** By how much the total is too high. */
  surplus = 0;
  /** A change at the partner during the next read of days. */
  meanwhile: (() => void) | undefined;

  constructor(life: Life) {
    super(life);
    const { world, partner, seed, note, plan } = life;
    const tokenDelay = plan.youngTokens / 1_000;
    partner.switches = { ...defaultSwitches, tokenDelay, oneToken: plan.rival > 0 };
    if (tokenDelay > 0) note('tokens that are accepted late');
    const [replica, lies] = [Random.of(seed, 'replica'), Random.of(seed, 'lies')];
    partner.isReplica = () => {
      const isReplica = replica.chance(0.5);
      if (isReplica) note('answered by a replica');
      return isReplica;
    };
    partner.isZombie = (id) => {
      const isZombie = shareOf(id) < this.unrest.zombies;
      if (isZombie && world.gone.has(id)) note('zombie');
      return isZombie;
    };
    partner.count = (right, query) => {
      if (isOfDays(query)) return right;
      const surplus = this.surplus + (this.#isSurplus() ? this.unrest.surplus : 0);
      if (surplus > 0) note('a total that is too high');
      if (!lies.chance(this.unrest.lies)) return right + surplus;
      note('a total that lies');
      return Math.max(0, right + lies.below(44) - 3);
    };
    const contradictions = Random.of(seed, 'contradictions');
    partner.rows = (right) => {
      if (right.length === 0 || !contradictions.chance(this.unrest.contradicts)) return right;
      note('rows that contradict the count');
      const shown = right.slice(0, contradictions.below(right.length));
      // The others are copies of the last one.
      const copies = right.map((row, index) => shown[index] ?? shown.at(-1) ?? row);
      return contradictions.pick([[], shown, copies]);
    };
    partner.onList = ({ sort }) => {
      if (sort === 'user_name') {
        this.meanwhile?.();
        this.meanwhile = undefined;
      }
      return undefined;
    };
    partner.onGet = (id) => {
      // No list shows a moved and then malformed record by its id, nor does a broken endpoint
      // (docs/detection.md, Limits).
      const isSpoiled = partner.singleRecordsBroken && world.entries.get(id)?.malformed;
      if (!partner.has(id) || isSpoiled) this.#trulyAbsent.add(id);
      if (partner.singleRecordsBroken) note('broken single-record endpoint');
      if (this.unrest.idsFail > 0) {
        note('no single record is answered');
        return { status: this.unrest.idsFail };
      }
      return this.unfetchable.has(id) && !partner.singleRecordsBroken ? serverError : undefined;
    };
  }

  async respond(
    request: HttpRequest,
    invocation: Invocation,
    signal: AbortSignal,
  ): Promise<HostAnswer | 'reset'> {
    const { unstableTies, singleRecordsBroken, churn, twins } = this.unrest;
    const { partner, world, note } = this.life;
    partner.twinOf = twins > 0 ? (record) => this.#twinOf(record) : undefined;
    partner.tie = unstableTies ? () => this.#ties.next() : undefined;
    partner.singleRecordsBroken = singleRecordsBroken > 0;
    if (this.#rivals.chance(this.unrest.rival)) {
      note('a token for somebody else');
      partner.access.endTokens();
    }
    if (request.method !== 'POST') {
      if (unstableTies && request.path.includes('?')) note('unstable ties');
      if (invocation.random.chance(churn)) {
        note('between two requests');
        world.happen();
      }
    }
    const fault = this.#fault(request, invocation);
    if (fault === undefined) return this.#answer(request, invocation, signal);
    if (fault !== 'half') return fault;
    const answer = await partner.respond(request, signal);
    return answer === 'reset' ? answer : { ...answer, breaksOff: true };
  }

  #isSurplus(): boolean {
    return shareOf(Math.floor(this.life.timeline.nowMs / surplusMs) + this.life.seed) < 0.4;
  }

  #twinOf(record: HostRecord): HostRecord | undefined {
    const { id } = record.assessment;
    if (record.malformed || record.odd || shareOf(id) >= this.unrest.twins) return undefined;
    this.life.note('one id twice');
    return twinOf(record);
  }

  /** Until the next call, the partner has assigned its records, or nothing. */
  assign(probabilityOfNothing: number): void {
    const isNothing = this.#words.chance(probabilityOfNothing);
    this.life.partner.fault = isNothing ? this.#words.pick(wordsForNothing) : undefined;
    if (isNothing) this.life.note('nothing assigned', 'by the partner');
  }

  hasToldOfNothing(invocation: Invocation): boolean {
    return this.#toldOfNothing.has(invocation);
  }

  async #answer(request: HttpRequest, invocation: Invocation, signal: AbortSignal) {
    const { partner } = this.life;
    const answer = await partner.respond(request, signal);
    const isOfAll = request.path.includes('?') && !/filter|offset/.test(request.path);
    if (isOfAll && answer === partner.fault) this.#toldOfNothing.add(invocation);
    return answer;
  }

  /** Drawn once a call. A failing call fails at each attempt. */
  #fault({ method, path }: HttpRequest, invocation: Invocation): Failure | undefined {
    const pending = this.#pendingFaults.get(invocation) ?? new Map<string, PendingFault>();
    this.#pendingFaults.set(invocation, pending);
    const isRefused = [...pending.values()].some(({ fault }) => fault === 'credentials');
    if (method === 'POST') return isRefused ? invalidClient : undefined;
    const known = pending.get(path) ?? this.#pendingFault(invocation);
    if (known === undefined) return undefined;
    known.left -= 1;
    if (known.left >= 0) pending.set(path, known);
    else pending.delete(path);
    if (known.left < 0) return undefined;
    return known.fault === 'credentials' ? invalidToken : known.fault;
  }

  #pendingFault({ id, random }: Invocation): PendingFault | undefined {
    const { note } = this.life;
    if (random.chance(this.unrest.faults)) {
      const kind = random.below(20);
      note(kind === 0 ? 'credentials refused' : 'failed request', id);
      const fault = kind === 0 ? 'credentials' : failure(kind, random);
      note(`fault: ${nameOf(fault)}`);
      return { fault, left: DEFAULT_LIMITS.attempts };
    }
    if (!random.chance(this.unrest.stumbles)) return undefined;
    const fault = random.pick(stumbles);
    note('stumble', id);
    return { fault, left: fault === invalidToken ? 1 : 1 + random.below(2) };
  }

  /** These are absent at the beginning of a read, so they may be called missing, with any later changes. */
  lacks(ids: Iterable<number>): void {
    for (const id of ids) this.#trulyAbsent.add(id);
  }

  wasTrulyAbsent(id: number): boolean {
    const { oldestAnswerMs: oldest } = this;
    if (oldest > 0 && this.life.world.isJustBack(id, oldest + tickMs)) return true;
    return this.#trulyAbsent.has(id) || this.#trulyAbsentBefore.has(id);
  }

  /** Absences that earlier ticks saw no longer count. A dead tick's commit can be late. */
  forgetAbsences(): void {
    this.#trulyAbsentBefore = this.#trulyAbsent;
    this.#trulyAbsent = new Set();
  }
}

/** Of nineteen failures, three are refusals for pace. */
function failure(kind: number, random: Random): Failure {
  if (kind < 4) return tooManyRequests(random.pick([undefined, 2, 600]));
  if (kind < 6) return random.pick([htmlPage, invalidToken]);
  return random.pick<Failure>(['reset', 'half', overloaded, serverError]);
}

function nameOf(fault: PendingFault['fault']): string {
  if (typeof fault === 'string') return fault;
  return fault === htmlPage ? 'HTML' : String(fault.status);
}
