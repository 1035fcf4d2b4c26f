import { DEFAULT_LIMITS } from '../../lambda/partner/client.ts';
import {
  type Fault,
  type HostAnswer,
  type HttpRequest,
  htmlPage,
  invalidClient,
  invalidToken,
  isOfDays,
  type MemoryPartner,
  noAssessments,
  noOrganizations,
  serverError,
  tooManyRequests,
} from '../scaffold/partner.ts';
import type { Note } from './coverage.ts';
import type { Invocation } from './passage.ts';
import type { Plan } from './plan.ts';
import { Random } from './random.ts';
import type { World } from './world.ts';

export type Unrest = Pick<
  Plan,
  'churn' | 'faults' | 'stumbles' | 'unstableTies' | 'singleRecordsBroken' | 'zombies' | 'lies'
>;

export const peaceful: Unrest = {
  churn: 0,
  faults: 0,
  stumbles: 0,
  unstableTies: 0,
  singleRecordsBroken: 0,
  zombies: 0,
  lies: 0,
};

type Failure = Exclude<Fault, 'silence'>;

/** A fault in the way of one call, for so many more requests of it. */
interface PendingFault {
  readonly fault: Failure | 'credentials';
  left: number;
}

/** About as long as a tick takes from an answer to what follows from it. */
const tickMs = 120_000;

/** What partners say that have assigned nothing; only the status is the document's. */
const wordsForNothing: readonly [HostAnswer, ...HostAnswer[]] = [
  noOrganizations,
  noAssessments,
  { status: 400, body: '{"errors":[{"message":"Kein Mandant zugewiesen"}]}' },
  { status: 400, body: '{"errors":"no products"}' },
  { status: 400, headers: { 'content-type': 'text/html' }, body: '<p>Bad request</p>' },
  { status: 400 },
];

const overloaded: HostAnswer = { status: 503, headers: { 'retry-after': '2' } };

/** Faults that the next attempt, or the one after it, may get over. */
const stumbles: readonly [Failure, ...Failure[]] = [
  'reset',
  'half',
  invalidToken,
  overloaded,
  serverError,
  tooManyRequests(3),
];

/**
 * The partner's host in the simulation: the partner in memory, over a world in which anything can
 * happen between two requests, with all that can come instead of an answer.
 */
export class Host {
  readonly #world: World;
  readonly #partner: MemoryPartner;
  readonly #ties: Random;
  readonly #note: Note;
  /** By path: what is asked again for the same reason meets the same. */
  readonly #pendingFaults = new WeakMap<Invocation, Map<string, PendingFault>>();
  readonly #words: Random;
  /** They were told by an answer to the list without a filter that nothing is assigned. */
  readonly #toldOfNothing = new WeakSet<Invocation>();
  /** Ids that were truly absent when a read began, or when the single-record endpoint said so. */
  #trulyAbsent = new Set<number>();
  #trulyAbsentBefore = new Set<number>();
  unrest: Unrest = peaceful;
  /** Answers are no older than this: of a replica, or from a cache. */
  oldestAnswerMs = 0;
  /** Their lookups fail, those of others do not. */
  unfetchable: ReadonlySet<number> = new Set();
  /** A change at the partner during the next read of days. */
  meanwhile: (() => void) | undefined;

  constructor(world: World, partner: MemoryPartner, seed: number, note: Note) {
    this.#world = world;
    this.#partner = partner;
    this.#ties = Random.of(seed, 'ties');
    this.#words = Random.of(seed, 'words for nothing');
    this.#note = note;
    const [replica, lies] = [Random.of(seed, 'replica'), Random.of(seed, 'lies')];
    partner.isReplica = () => {
      const isReplica = replica.chance(0.5);
      if (isReplica) note('answered by a replica');
      return isReplica;
    };
    partner.isZombie = (id) => {
      const isZombie = ((id * 2_654_435_761) % 2 ** 32) / 2 ** 32 < this.unrest.zombies;
      if (isZombie && world.gone.has(id)) note('zombie');
      return isZombie;
    };
    partner.count = (right, { filter }) => {
      if (isOfDays(filter) || !lies.chance(this.unrest.lies)) return right;
      note('a total that lies');
      return Math.max(0, right + lies.below(44) - 3);
    };
    partner.onList = ({ sort }) => {
      if (sort === 'user_name') {
        this.meanwhile?.();
        this.meanwhile = undefined;
      }
      return undefined;
    };
    partner.onGet = (id) => {
      // Moved and then malformed, no list shows it by its id; nor does a broken endpoint (docs/detection.md, Limits).
      const isSpoiled = partner.singleRecordsBroken && world.entries.get(id)?.malformed;
      if (!partner.has(id) || isSpoiled) this.#trulyAbsent.add(id);
      if (partner.singleRecordsBroken) note('broken single-record endpoint');
      return this.unfetchable.has(id) && !partner.singleRecordsBroken ? serverError : undefined;
    };
  }

  async respond(
    request: HttpRequest,
    invocation: Invocation,
    signal: AbortSignal,
  ): Promise<HostAnswer | 'reset'> {
    const { unstableTies, singleRecordsBroken } = this.unrest;
    this.#partner.tie = unstableTies ? () => this.#ties.next() : undefined;
    this.#partner.singleRecordsBroken = singleRecordsBroken > 0;
    if (request.method !== 'POST') {
      if (unstableTies && request.path.includes('?')) this.#note('unstable ties');
      if (invocation.random.chance(this.unrest.churn)) {
        this.#note('between two requests');
        this.#world.happen();
      }
    }
    const fault = this.#fault(request, invocation);
    if (fault === undefined) return this.#answer(request, invocation, signal);
    if (fault !== 'half') return fault;
    const answer = await this.#partner.respond(request, signal);
    return answer === 'reset' ? answer : { ...answer, breaksOff: true };
  }

  /** Until this is called again, the partner has assigned what it should, or nothing. */
  assign(probabilityOfNothing: number): void {
    const isNothing = this.#words.chance(probabilityOfNothing);
    this.#partner.fault = isNothing ? this.#words.pick(wordsForNothing) : undefined;
    if (isNothing) this.#note('nothing assigned', 'by the partner');
  }

  hasToldOfNothing(invocation: Invocation): boolean {
    return this.#toldOfNothing.has(invocation);
  }

  async #answer(request: HttpRequest, invocation: Invocation, signal: AbortSignal) {
    const answer = await this.#partner.respond(request, signal);
    const isOfAll = request.path.includes('?') && !/filter|offset/.test(request.path);
    if (isOfAll && answer === this.#partner.fault) this.#toldOfNothing.add(invocation);
    return answer;
  }

  /** Drawn once a call; a call that fails does so however often it is tried. */
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
    if (random.chance(this.unrest.faults)) {
      const kind = random.below(20);
      this.#note(kind === 0 ? 'credentials refused' : 'failed request', id);
      const fault = kind === 0 ? 'credentials' : failure(kind, random);
      this.#note(`fault: ${nameOf(fault)}`);
      return { fault, left: DEFAULT_LIMITS.attempts };
    }
    if (!random.chance(this.unrest.stumbles)) return undefined;
    const fault = random.pick(stumbles);
    this.#note('stumble', id);
    return { fault, left: fault === invalidToken ? 1 : 1 + random.below(2) };
  }

  /** These are not there as a read begins: what it lacks may be called gone, whatever happens to it meanwhile. */
  lacks(ids: Iterable<number>): void {
    for (const id of ids) this.#trulyAbsent.add(id);
  }

  /** Whatever is asked for by its id, the answer is 404. */
  get deniesIds(): boolean {
    return this.#partner.singleRecordsBroken;
  }

  wasTrulyAbsent(id: number): boolean {
    if (this.oldestAnswerMs > 0 && this.#world.isJustBack(id, this.oldestAnswerMs + tickMs))
      return true;
    return this.#trulyAbsent.has(id) || this.#trulyAbsentBefore.has(id);
  }

  /** Absences that the ticks before the last ones saw count no more; a dead tick's commit can be late. */
  forgetAbsences(): void {
    this.#trulyAbsentBefore = this.#trulyAbsent;
    this.#trulyAbsent = new Set();
  }
}

/** Of nineteen failures three are for the pace. */
function failure(kind: number, random: Random): Failure {
  if (kind < 4) return tooManyRequests(random.pick([undefined, 2, 600]));
  if (kind < 6) return random.pick([htmlPage, invalidToken]);
  return random.pick<Failure>(['reset', 'half', overloaded, serverError]);
}

function nameOf(fault: PendingFault['fault']): string {
  if (typeof fault === 'string') return fault;
  return fault === htmlPage ? 'HTML' : String(fault.status);
}
