import { acceptTotal } from '../../lambda/commands/accept-total.ts';
import type { Call, OperationParts } from '../../lambda/commands/parts.ts';
import { restartBaseline } from '../../lambda/commands/restart-baseline.ts';
import { isUnanswered } from '../../lambda/decisions/missing.ts';
import { NotifierError } from '../../lambda/errors.ts';
import { DEFAULT_LIMITS } from '../../lambda/partner/client.ts';
import { partnerReader } from '../../lambda/partner/reader.ts';
import type { TickSettings } from '../../lambda/settings.ts';
import type { TickParts } from '../../lambda/tick/parts.ts';
import type { TickReport } from '../../lambda/tick/report.ts';
import { tick } from '../../lambda/tick/tick.ts';
import { timeUntil } from '../../lambda/tick/time.ts';
import { MemoryOpsLedger } from '../scaffold/memory-ops-ledger.ts';
import { MemoryPartner } from '../scaffold/partner.ts';
import { replacedIn } from '../scaffold/ports.ts';
import { tickSettings } from '../scaffold/settings.ts';
import { Audience } from './audience.ts';
import { Coverage, thatHold } from './coverage.ts';
import { Host, peaceful } from './host.ts';
import { LaggingLedger } from './lagging-ledger.ts';
import { type BrokenParts, intact } from './mutants.ts';
import { type Environment, type Invocation, Passage, safe } from './passage.ts';
import { type Plan, places } from './plan.ts';
import { Random } from './random.ts';
import { Timeline } from './timeline.ts';
import { Witness } from './witness.ts';
import { World } from './world.ts';

/** The function's time-out. */
const tickSeconds = 55;
/** Pulses, tail and a count; locating and reading; lookups of missing certifications; audits. */
const callsBesideReads = 5 + 100 + 100 + 20;
/** A read that has begun may exceed its budget. */
const readsBeyondBudget = 8;
/** Ids that a read may ask for, because its rows disagree. */
const idsOfTwins = 10;
/** Ranges in which a history of a few years is read, back to the oldest. */
const rangesOfBaseline = 15;
/** Requests to read ranges again whose answers contradict each other, besides as many as good reads have made. */
const rereadsOfBaseline = 100;
/** In each attempt, a token that has worked is refused, and two new ones four times each. */
const requestsOfACall = DEFAULT_LIMITS.attempts * 9;
/** Requests that skip rows that are too large, in any number on one page. */
const requestsOfHugeRows = 60;
/** The longest call to the ledger or the announcer on which a tick can rely. */
const dependableMs = 1_000;
/** Requests until a difference in a count is found, and the found days are read. */
const requestsOfSearch = 60;
/** An idle process ends after this time. */
const idleMs = 10 * 60_000;
const auditsOff = 9e12;

type CommandOfOps = (
  parts: OperationParts,
  call: Call,
) => Promise<{ readonly result: { readonly changed: boolean } }>;

/** The work of one tick, and its end. */
export interface Ticked {
  readonly report: TickReport | undefined;
  readonly invocation: Invocation;
}

/** A world, its host, and all parts of the ticks. The same seed and plan are the same life. */
export class Life {
  readonly plan: Plan;
  readonly seed: number;
  /** The mutant's broken parts, which the witness watches. */
  readonly #broken: BrokenParts;
  random: Random;
  /** For the commands of ops alone: nothing else depends on their number. */
  ops: Random;
  readonly coverage = new Coverage();
  readonly note = this.coverage.note;
  readonly findings: string[] = [];
  readonly timeline: Timeline;
  settings: TickSettings;
  readonly partner: MemoryPartner;
  readonly world: World;
  readonly host: Host;
  readonly ledger: LaggingLedger;
  readonly audience: Audience;
  readonly witness: Witness;
  readonly passage: Passage;
  isAudited = true;
  contradictedUntil = 0;
  /** Ops have paused the integration. */
  isPaused = false;
  /** Idle processes. */
  #idle: Environment[] = [];
  #ticks = 0;
  #operations = 0;

  constructor(seed: number, plan: Plan, broken: BrokenParts = intact) {
    const { start, timeZone } = places[plan.place] ?? places[0];
    this.plan = plan;
    this.seed = seed;
    this.#broken = broken;
    this.random = Random.of(seed, 'life');
    this.ops = Random.of(seed, 'ops');
    this.timeline = new Timeline(start, timeZone);
    this.settings = settingsOf(plan, timeZone, this.timeline);
    this.partner = new MemoryPartner(this.timeline);
    if (plan.pace > 0) this.partner.requestsPerMinute = plan.pace;
    this.partner.replicaLagMs = plan.replicaLag * 60_000;
    this.partner.cacheMs = plan.cache * 1_000;
    if (plan.capped > 0) Object.assign(this.partner, { pageRows: plan.capped, statedRows: 100 });
    this.world = new World(this);
    this.host = new Host(this);
    this.ledger = new LaggingLedger(this, broken.ledgerRules);
    this.audience = new Audience(this);
    this.witness = new Witness(this);
    this.passage = new Passage(this);
    const notable = {
      'time zone other than UTC': timeZone !== 'UTC',
      'few requests a minute': plan.pace,
      'cached answers': plan.cache,
      'capped pages': plan.capped,
      'digest of several ticks': plan.digestEvery,
      'quiet hours': plan.quietHours,
      'slow SNS': plan.snsMs,
    };
    for (const what of thatHold(notable)) this.note(what);
  }

  /** From now on, all troubles of the plan occur. */
  trouble(): void {
    const { plan, host, passage, audience, ledger } = this;
    host.unrest = plan;
    this.partner.catchUp();
    passage.dangers = plan;
    passage.pace = plan;
    ledger.lagMs = plan.lagMs;
    audience.refusals = plan.refusals;
  }

  /** All trouble outside of the world itself is over. */
  calm(): void {
    this.world.shorten();
    const { zombies, idsFail } = this.plan;
    this.host.unrest = { ...peaceful, zombies, idsFail };
    if (this.plan.contradicts > 0) this.contradictedUntil = this.world.moment;
    this.passage.dangers = safe;
    this.audience.refusals = 0;
    this.#idle = this.#idle.filter(({ aheadMs }) => aheadMs === 0);
  }

  /** Removed records are also removed by their ids. */
  async bury(): Promise<void> {
    const { missing, conditions } = this.ledger.remembered;
    if (missing?.notes.some(({ isShownById }) => isShownById)) {
      this.note('shown by its id alone');
      if (!conditions.has('shown-by-id'))
        this.findings.push('operations were not told of what only its id shows');
    }
    const { nowMs } = this.timeline;
    if (missing?.notes.some((note) => isUnanswered(note, nowMs))) {
      this.note('not answered by its id');
      if (!conditions.has('unanswered-by-id'))
        this.findings.push('operations were not told of ids that cannot be asked for');
    }
    this.host.unrest = peaceful;
  }

  /** Later draws do not depend on earlier ones. */
  turn(when: string): void {
    this.world.turn(when);
    this.random = Random.of(this.seed, when);
    this.ops = Random.of(this.seed, `ops in ${when}`);
  }

  /** In an order of this life, so that none is told twice before each was told. */
  storiesInTurn<Story>(stories: readonly Story[]): readonly Story[] {
    const random = Random.of(this.seed, 'stories');
    return stories
      .map((story) => ({ story, place: random.next() }))
      .sort((a, b) => a.place - b.place)
      .map(({ story }) => story);
  }

  /** The ticks that a slow host with old answers needs for the work of one. */
  get ticksForOne(): number {
    const { pace } = this.plan;
    const forPace = pace === 0 ? 1 : Math.ceil(requestsOfSearch / pace);
    // A search that older answers have misled is repeated after as long again.
    return this.isLagging ? forPace + Math.ceil((2 * this.host.oldestAnswerMs) / 60_000) : forPace;
  }

  /** A tick may not be able to read a day whole: docs/detection.md, Limits. */
  get isSlow(): boolean {
    const { pace, capped, partnerMs } = this.plan;
    return pace > 0 || (capped > 0 && partnerMs >= 1_000);
  }

  /** The pace cut off the last read of a day at such a host. */
  readonly isCutOff = (day: string): boolean => this.isSlow && this.witness.wasCutOff(day);

  /** Some answers are old. */
  get isLagging(): boolean {
    return this.host.oldestAnswerMs > 0;
  }

  async auditsOff(): Promise<void> {
    this.settings = { ...this.settings, audit: { ...this.settings.audit, recentMs: auditsOff } };
    await this.ledger.saveState({ auditsFrom: auditsOff });
    this.isAudited = false;
  }

  /** The partner issues another secret, and ops store it at once. */
  rotateSecret(): void {
    this.partner.access.rotateSecret();
    this.note('secret rotated', 'by the partner');
  }

  async restartBaseline(): Promise<void> {
    const changed = await this.#operate((parts, call) =>
      restartBaseline.carry(parts, { command: 'restart-baseline' }, call),
    );
    if (changed) this.note('baseline restarted', 'by ops');
  }

  /**
   * Ops have seen the missing certifications, and accept the total.
   *
   * @returns whether it was still so at that time
   */
  async acceptTotal(): Promise<boolean> {
    const total = this.world.entries.size;
    // This counts also if the process dies, since it may have written before.
    this.witness.isAccepted = true;
    const changed = await this.#operate((parts, call) =>
      acceptTotal.carry(parts, { command: 'accept-total', total }, call),
    );
    if (changed) this.note('total accepted', total);
    return changed;
  }

  /** Carries out a command of ops as the second function does. It may fail and be killed like a tick. */
  async #operate(carryOut: CommandOfOps): Promise<boolean> {
    this.#operations += 1;
    const { passage } = this;
    const invocation = passage.invocation(`operation-${this.#operations}`, tickSeconds);
    const environment = passage.environment(invocation);
    const killedAt = environment.clock.now().add({ seconds: tickSeconds });
    const { clock, settings, partner, ledger, announcer, journal } = this.#parts(environment);
    const parts: OperationParts = {
      settings: { ...this.settings, ...settings },
      clock,
      partner,
      ledger: passage.ledger(ledger, invocation),
      opsLedger: passage.ledger(new MemoryOpsLedger(this.ledger), invocation),
      announcer,
      journal: { ...journal, info: () => undefined },
      queue: () => announcer,
      tick: () => Promise.reject(new Error('no command of the simulation runs a tick')),
      credentials: async () => undefined,
      topics: async () => [],
      subscribers: async () => ({ listed: [] }),
      topicKey: async () => undefined,
      queueKey: async () => undefined,
    };
    try {
      const work = carryOut(parts, { id: invocation.id, time: timeUntil(killedAt) });
      return (await Promise.race([work, invocation.died]))?.result.changed ?? false;
    } catch (error) {
      if (!(error instanceof NotifierError)) this.findings.push(`an operation failed: ${error}`);
      return false;
    }
  }

  /** One invocation, from its start to its end. */
  async tick(): Promise<Ticked> {
    this.#ticks += 1;
    const { timeline, passage, witness } = this;
    const invocation = passage.invocation(`tick-${this.#ticks}`, tickSeconds);
    const environment = this.#environment(invocation);
    const deadline = environment.clock.now().add({ seconds: tickSeconds });
    const parts = this.#parts(environment);
    const watched: TickParts = {
      ...parts,
      partner: witness.partner(parts.partner, invocation),
      ledger: passage.ledger(witness.ledger(parts.ledger), invocation),
      announcer: passage.announcer(parts.announcer, invocation),
    };
    let report: TickReport | undefined;
    let failure: unknown;
    try {
      const work = tick(watched, { id: invocation.id, deadline });
      report = await Promise.race([work, invocation.died]);
    } catch (error) {
      failure = error;
      // The next tick continues. Only a foreign error is a finding.
      if (!(error instanceof NotifierError)) this.findings.push(`a tick failed: ${error}`);
    }
    if (report === undefined) witness.hasFailed(invocation);
    else if (report.cutShort) witness.wasCutShort(invocation);
    if (environment.isAlive) {
      environment.idleSince = timeline.nowMs;
      this.#idle.push(environment);
    }
    passage.trace(
      `${invocation.id} ended: ${JSON.stringify(report ?? invocation.end ?? String(failure))}`,
    );
    if (this.host.hasToldOfNothing(invocation)) this.#checkRefused(invocation, failure);
    this.#check({ report, invocation });
    return { report, invocation };
  }

  /** With any words of the partner, a tick fails of it. Ops are told unless something else goes wrong. */
  #checkRefused({ end }: Invocation, failure: unknown): void {
    if (end !== undefined) return;
    const { freeze, loss, refusals } = this.plan;
    if (!(failure instanceof NotifierError && failure.code === 'not-provisioned'))
      this.findings.push(`nothing is assigned, and a tick ended with ${String(failure)}`);
    const isTold = this.audience.notices.some(({ subject }) => subject.includes('no scope'));
    if (!isTold && freeze + loss + refusals === 0)
      this.findings.push('operations were not told that nothing is assigned');
  }

  /** An idle process, or a new one. */
  #environment(invocation: Invocation): Environment {
    const { nowMs } = this.timeline;
    // Requests still under way at the end of a tick may have been its death.
    this.#idle = this.#idle.filter(
      ({ isAlive, idleSince }) => isAlive && nowMs - idleSince < idleMs,
    );
    const idle = this.#idle.pop();
    if (idle === undefined) return this.passage.environment(invocation);
    idle.invocation = invocation;
    if (this.#broken.forgetsToken) idle.client = this.passage.newClient(idle);
    return idle;
  }

  /** The parts as the function wires them, with the mutant's replacements. */
  #parts(environment: Environment): TickParts {
    const { clock } = environment;
    const broken = this.#broken;
    const client = this.passage.client(environment);
    return {
      settings: broken.settings(this.settings),
      clock,
      partner: broken.partner(partnerReader(client)),
      ledger: broken.ledger(this.#pausable()),
      announcer: this.audience,
      journal: { warn: (what) => this.note(`warned: ${what}`) },
      measure: () => () => ({ requests: environment.invocation.requests, durationMs: 0 }),
    };
  }

  #pausable() {
    const { ledger } = this;
    const state = async () => ({
      ...(await ledger.state()),
      ...(this.isPaused && { paused: true }),
    });
    return replacedIn(ledger, { state });
  }

  /** Promises of each tick, in any circumstances. */
  #check({ report, invocation }: Ticked): void {
    const { id, end, isFrozen, underWay, longestRead, calls, requests } = invocation;
    const times = [...underWay].map(({ since }) => this.timeline.nowMs - since);
    const longestCallMs = Math.max(invocation.longestCallMs, ...times);
    this.note(end ?? report?.outcome ?? 'failed', id);
    const happenings = {
      'cut short': report?.cutShort,
      missing: report?.missing,
      'too many missing': report?.conditions.missing,
      held: report?.held,
      unexplained: report?.unexplained,
    };
    for (const happening of thatHold(happenings)) this.note(happening, id);
    const isBaseline = report === undefined || report.outcome === 'baseline';
    const reads = isBaseline ? 2 * rangesOfBaseline : 2 * readsBeyondBudget;
    const beside = callsBesideReads + (isBaseline ? rereadsOfBaseline : 0);
    const requestsOfPage = this.plan.huge > 0 ? requestsOfHugeRows : 1;
    const wrong = {
      // A notice may still be owed, and an untold outage from before is dropped.
      'a paused integration was not left alone':
        report?.outcome === 'paused' && calls + invocation.writes > invocation.notes,
      [`a tick of ${calls} calls, its longest read ${longestRead}`]:
        calls > beside + reads * (longestRead + (this.plan.twins > 0 ? idsOfTwins : 0)),
      [`a tick of ${requests} requests for ${calls} calls`]:
        requests > requestsOfACall * requestsOfPage * calls,
      [`a tick ran out of time although no call took more than ${longestCallMs} ms`]:
        end === 'out of time' && !isFrozen && longestCallMs <= dependableMs,
    };
    this.findings.push(...thatHold(wrong));
  }
}

export async function numberMissing({ ledger }: Life): Promise<number> {
  return (await ledger.state()).missing?.total ?? 0;
}

/** More certifications are missing than may be withdrawn without ops. */
export async function isTooMuchMissing({ ledger }: Life): Promise<boolean> {
  return (await ledger.state()).missing?.tooManySince !== undefined;
}

function settingsOf(plan: Plan, timeZone: string, timeline: Timeline): TickSettings {
  const { alerts } = tickSettings();
  const since = timeline.today().subtract({ days: 30 }).toString();
  const announced = ['none', 'all', { since }] as const;
  const digestEvery = plan.digestEvery === 0 ? undefined : plan.digestEvery;
  const quietHours = plan.quietHours === 0 ? undefined : { from: '22:00', to: '06:00' };
  return tickSettings({
    ...{ name: 'sim', timeZone, holdAbove: plan.holdAbove },
    baseline: { atOnce: plan.atOnce },
    announce: announced[plan.announce] ?? 'none',
    alerts: { ...alerts, digestEvery, quietHours },
  });
}
