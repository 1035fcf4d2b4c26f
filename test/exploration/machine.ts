import { NotifierError } from '../../lambda/errors.ts';
import { partnerReader } from '../../lambda/partner/reader.ts';
import type { TickSettings } from '../../lambda/settings.ts';
import type { TickParts } from '../../lambda/tick/parts.ts';
import { tick } from '../../lambda/tick/tick.ts';
import { ManualClock } from '../scaffold/clock.ts';
import { noEffort } from '../scaffold/effort.ts';
import type { MemoryLedger } from '../scaffold/memory-ledger.ts';
import type { BrokenParts } from '../simulation/mutants.ts';
import { announcerOf, clientOf, doMeet, ledgerOf, type Request } from './calls.ts';
import type { Choices, Option } from './choices.ts';
import { type Budget, type State, spent } from './seen.ts';
import {
  digest,
  momentIn,
  recordedIn,
  type Situation,
  type StateParts,
  settings,
  stateIn,
  textOf,
} from './situation.ts';
import { Witness } from './witness.ts';
import {
  answerIn,
  atRest,
  movesOf,
  type Question,
  replicaOf,
  shownIn,
  type World,
} from './world.ts';

const killedAfterSeconds = 55;
/** The time after which the lease of a dead tick has expired. */
const leaseOutSeconds = 61;
/** Turns of promises from one call of a tick to the next. */
const mostTurns = 10_000;

/** A call of a tick under way. */
interface Call {
  readonly request: Request;
  /** Passes the answer to the tick. */
  answer(answer: Promise<unknown>): void;
}

/** A running tick. */
interface Process {
  readonly name: string;
  readonly calls: Call[];
  /** A digest of all answers so far, which determine its next steps. */
  answers: bigint;
  isAlive: boolean;
  /** All of its calls, for counts. */
  readonly made: string[];
}

type OwnRequest = Extract<Request, { readonly perform: unknown }>;

interface Act extends Option {
  /** @returns the process with the next turn, if it is another one */
  readonly act: () => Process | undefined;
}

/** Runs the ticks of a situation, call by call. */
export class Machine {
  readonly #broken: BrokenParts;
  readonly #settings: TickSettings;
  readonly #place: string;
  readonly #clock: ManualClock;
  readonly #ledger: MemoryLedger;
  readonly #witness: Witness;
  readonly #processes: Process[] = [];
  #world: World;
  #budget: Budget;
  /** The last request of a dead tick, which may land at any time. */
  #late: { readonly request: OwnRequest; readonly answers: bigint } | undefined;
  /** The work in progress. */
  #underWay: Promise<unknown> = Promise.resolve();
  /** A digest of the ledger and of the sent texts, until either changes. */
  #recorded: bigint | undefined;

  /** @param place of this tick in the execution: the number of later ticks is part of the state */
  constructor(from: Situation, broken: BrokenParts, place: string, ticks: TickSettings = settings) {
    this.#settings = ticks;
    this.#place = place;
    this.#broken = broken;
    this.#clock = new ManualClock(new Date(from.nowMs).toISOString());
    this.#ledger = from.ledger.copy();
    this.#witness = new Witness(from.told, this.#ledger);
    this.#world = from.world;
    this.#budget = from.budget;
  }

  get situation(): Situation {
    return {
      world: this.#world,
      ledger: this.#ledger,
      told: this.#witness,
      nowMs: this.#nowMs,
      budget: this.#budget,
    };
  }

  /** Violations of conditions that must always hold. */
  get findings(): readonly string[] {
    return this.#witness.findings;
  }

  /** Calls of the tick that began last. */
  get calls(): readonly string[] {
    return this.#processes.at(-1)?.made ?? [];
  }

  /** One tick, and a second one that may overlap it. @returns false when the rest is known */
  async run(choices: Choices, afterSeconds: number): Promise<boolean> {
    let current: Process | undefined = this.#begin('first', afterSeconds);
    while (current !== undefined) {
      await Promise.allSettled([this.#underWay]);
      await reachCall(current);
      const act = this.#chosen(current, choices);
      if (act === undefined) return false;
      current = act() ?? (current.isAlive ? current : this.#living[0]);
      // A request that was under way when the last tick ended lands now.
      if (current === undefined && this.#late) this.#land(this.#late.request);
    }
    await Promise.allSettled([this.#underWay]);
    return true;
  }

  /** Chooses the next event. @returns undefined: the rest is known */
  #chosen(process: Process, choices: Choices): Act['act'] | undefined {
    const [call] = process.calls;
    if (call === undefined || !process.isAlive) return () => undefined;
    const options = this.#options(process, call);
    const chosen = choices.choose(options, () => this.#state({ turn: process.name }));
    return options.find(({ name }) => name === chosen)?.act;
  }

  /** The options at a call. */
  #options(process: Process, call: Call): readonly Act[] {
    const { request } = call;
    return [
      { name: '', act: () => this.#carryOut(process, call) },
      ...(request.to === 'partner'
        ? this.#moves(process, call, request.question)
        : this.#turns(process, request)),
      ...(this.#budget.faults > 0 ? this.#faults(process, call) : []),
      ...(this.#budget.deaths > 0 ? this.#deaths(process, request) : []),
    ];
  }

  *#moves(process: Process, call: Call, question: Question): Generator<Act> {
    if (this.#budget.moves === 0) return;
    const budget = spent(this.#budget, 'moves');
    const instant = { nowMs: this.#nowMs, moment: momentIn(this.#ledger) };
    for (const [name, world] of movesOf(this.#world, instant, budget.moves === 0))
      yield {
        name,
        act: () => {
          this.#budget = budget;
          this.#world = world;
          return undefined;
        },
        next: () => this.#state({ turn: process.name, world, budget }),
      };
    const replica = replicaOf(this.#world);
    const isOther = answerIn(replica, question).content !== answerIn(this.#world, question).content;
    if (isOther && this.#isReplicaBehind)
      yield {
        name: 'stale',
        act: () => {
          this.#budget = budget;
          if (budget.moves === 0) this.#world = atRest(this.#world);
          this.#show(process, call, replica, question);
          return undefined;
        },
      };
  }

  /** The time is limited by the lag of replicas. */
  get #isReplicaBehind(): boolean {
    const { before } = this.#world;
    return before?.isOutdated === true && this.#nowMs - before.until < settings.withdrawAfterMs;
  }

  /** Turns at the parts that ticks share: the ledger and the topics. */
  *#turns(process: Process, request: OwnRequest): Generator<Act> {
    const late = this.#late;
    if (late && doMeet(late.request, request))
      yield { name: 'land', act: () => this.#land(late.request) };
    if (this.#budget.overlaps === 0) return;
    const budget = spent(this.#budget, 'overlaps');
    const other = this.#processes.find((one) => one !== process);
    if (other?.isAlive)
      yield {
        name: 'turn',
        act: () => this.#trouble(budget, other),
        next: () => this.#state({ budget, turn: other.name }),
      };
    if (other !== undefined) return;
    const processes = [...answersIn([process]), ['second', 0n] as const];
    yield {
      name: 'second',
      act: () => this.#trouble(budget, this.#begin('second', 0)),
      next: () => this.#state({ budget, turn: 'second', processes }),
    };
    if (budget.deaths > 0 && request.isWrite) yield this.#lateDeath(process, request);
  }

  /** Its last request is still under way when another tick begins, after its lease has expired. */
  #lateDeath(process: Process, request: OwnRequest): Act {
    const budget = spent(spent(this.#budget, 'overlaps'), 'deaths');
    const { answers } = process;
    return {
      name: 'late',
      act: () => {
        process.isAlive = false;
        this.#late = { request, answers };
        return this.#trouble(budget, this.#begin('second', leaseOutSeconds));
      },
      next: () =>
        this.#state({
          budget,
          turn: 'second',
          nowMs: this.#nowMs + leaseOutSeconds * 1_000,
          late: answers,
          processes: [['second', 0n]],
        }),
    };
  }

  #land(request: OwnRequest): undefined {
    this.#late = undefined;
    this.#recorded = undefined;
    this.#witness.hasLanded = true;
    this.#underWay = request.perform();
  }

  /** A death before a read has the same effect as one before the next write. */
  *#deaths(process: Process, request: Request): Generator<Act> {
    if (!isWrite(request)) return;
    const others = this.#living.filter((one) => one !== process);
    const budget = spent(this.#budget, 'deaths');
    yield {
      name: 'die',
      act: () => {
        process.isAlive = false;
        return this.#trouble(budget, others[0]);
      },
      next: () =>
        this.#state({ budget, turn: others[0]?.name ?? '', processes: answersIn(others) }),
    };
  }

  *#faults(process: Process, call: Call): Generator<Act> {
    const { request } = call;
    const budget = spent(this.#budget, 'faults');
    const answers = answersAfter(process, `${request.name} failed`);
    const processes = answersIn(
      this.#living.map((one) => (one === process ? { ...one, answers } : one)),
    );
    yield {
      name: 'fail',
      act: () => this.#fail(process, call, budget),
      next: () => this.#state({ budget, turn: process.name, processes }),
    };
    if (isWrite(request))
      yield { name: 'lose', act: () => this.#fail(process, call, budget, request) };
    const lagging = request.to === 'partner' ? undefined : request.lagging;
    if (lagging && this.#isOwing)
      yield {
        name: 'lag',
        act: () => {
          this.#trouble(budget);
          return this.#tell(process, call, lagging);
        },
      };
  }

  /** An outbox has events, and the index may hide them. */
  get #isOwing(): boolean {
    return [...this.#ledger.items.values()].some(({ outbox }) => outbox.size > 0);
  }

  #trouble(budget: Budget, next?: Process): Process | undefined {
    this.#budget = budget;
    this.#witness.mayRepeat = true;
    return next;
  }

  /** The tick gets no answer, although the request may have been carried out. */
  #fail(process: Process, call: Call, budget: Budget, carriedOut?: OwnRequest): undefined {
    this.#trouble(budget);
    taken(process, call);
    process.answers = answersAfter(process, `${call.request.name} failed`);
    const failed = () => call.request.failed();
    call.answer(carriedOut ? this.#performed(carriedOut).then(failed) : failed());
  }

  #carryOut(process: Process, call: Call): undefined {
    const { request } = call;
    if (request.to === 'partner') {
      this.#world = shownIn(this.#world);
      this.#show(process, call, this.#world, request.question);
      return;
    }
    this.#tell(process, call, () => this.#performed(request));
  }

  #tell(process: Process, call: Call, perform: () => Promise<unknown>): undefined {
    taken(process, call);
    call.answer(told(process, perform()));
  }

  #show(process: Process, call: Call, world: World, question: Question): void {
    taken(process, call);
    const { answer, content } = answerIn(world, question);
    process.answers = answersAfter(process, content);
    call.answer(Promise.resolve(answer));
  }

  #performed(request: OwnRequest): Promise<unknown> {
    if (request.isWrite) this.#recorded = undefined;
    return request.perform();
  }

  get #living(): readonly Process[] {
    return this.#processes.filter(({ isAlive }) => isAlive);
  }

  get #nowMs(): number {
    return this.#clock.now().epochMilliseconds;
  }

  /** All values that determine the rest of the execution. */
  #state(changed: Partial<StateParts> & Pick<StateParts, 'turn'>): State {
    this.#recorded ??= recordedIn(this.#ledger, this.#witness);
    const now = {
      place: this.#place,
      world: this.#world,
      budget: this.#budget,
      nowMs: this.#nowMs,
      processes: answersIn(this.#living),
      late: this.#late?.answers,
    };
    return stateIn({ ...now, ...changed }, this.#recorded);
  }

  #begin(name: string, afterSeconds: number): Process {
    this.#clock.advance({ seconds: afterSeconds });
    const process: Process = { name, calls: [], answers: 0n, isAlive: true, made: [] };
    this.#processes.push(process);
    const deadline = this.#clock.now().add({ seconds: killedAfterSeconds });
    const id = `${name}-${this.#nowMs}`;
    const ended = (error?: unknown) => {
      process.isAlive = false;
      if (error !== undefined && !(error instanceof NotifierError))
        this.#witness.findings.push(`a tick failed: ${error}`);
    };
    const work = () => tick(this.#parts(process), { id, deadline });
    void this.#broken.during(work).then(() => ended(), ended);
    return process;
  }

  #parts(process: Process): TickParts {
    const broken = this.#broken;
    const ask = <Answer>(request: Request<Answer>) => {
      const { promise, resolve } = Promise.withResolvers<Answer>();
      const answer = (given: Promise<unknown>) => {
        this.#underWay = given;
        resolve(given as Promise<Answer>);
      };
      process.calls.push({ request, answer });
      return promise;
    };
    const ledger = ledgerOf(this.#ledger, this.#clock, ask, (change) =>
      this.#witness.commit(change, this.#world, this.#nowMs),
    );
    return {
      settings: broken.settings(this.#settings),
      clock: this.#clock,
      partner: broken.partner(partnerReader(clientOf(ask))),
      ledger: broken.ledger(ledger),
      announcer: announcerOf(ask, this.#witness),
      journal: { warn: () => undefined },
      measure: noEffort,
    };
  }
}

/** Waits until the tick waits for a call, or has ended. All other waits are promises. */
async function reachCall(process: Process): Promise<void> {
  for (let turn = 0; process.isAlive && process.calls.length === 0; turn += 1)
    if (turn < mostTurns) await undefined;
    else throw new Error('a tick waits for something that is no call');
}

function taken(process: Process, { request }: Call): void {
  process.calls.shift();
  process.made.push(request.name);
}

async function told<Answer>(process: Process, answer: Promise<Answer>): Promise<Answer> {
  const given = await answer;
  process.answers = answersAfter(process, textOf(given));
  return given;
}

const isWrite = (request: Request): request is OwnRequest =>
  request.to !== 'partner' && request.isWrite;

const answersIn = (processes: readonly Process[]): StateParts['processes'] =>
  processes.map(({ name, answers }) => [name, answers]);

const answersAfter = ({ answers }: Process, text: string) => digest(`${answers} ${text}`);
