import { NotifierError } from '../../lambda/errors.ts';
import { acceptTotal } from '../../lambda/operations/accept-total.ts';
import { restartBaseline } from '../../lambda/operations/baseline.ts';
import type { Call, OperationParts, Outcome } from '../../lambda/operations/parts.ts';
import { partnerReader } from '../../lambda/partner/reader.ts';
import type { TickParts, TickSettings } from '../../lambda/parts.ts';
import { TimeLimit } from '../../lambda/steps/time-limit.ts';
import { type TickReport, tick } from '../../lambda/tick.ts';
import { tickSettings } from '../scaffold/settings.ts';
import { Audience } from './audience.ts';
import { Coverage } from './coverage.ts';
import { Host, peaceful } from './host.ts';
import { LaggingLedger } from './lagging-ledger.ts';
import { type BrokenParts, intact } from './mutants.ts';
import { Invocation, Killed, Passage, safe } from './passage.ts';
import { Random } from './random.ts';
import { Timeline } from './timeline.ts';
import { Witness } from './witness.ts';
import { World } from './world.ts';

/** Midnights and changes of the clocks, ahead of UTC and behind. */
const places = [
  { start: '2026-11-21T08:00:00Z', timeZone: 'UTC' },
  { start: '2026-11-21T23:50:00Z', timeZone: 'UTC' },
  { start: '2026-03-29T00:30:00Z', timeZone: 'Europe/Berlin' },
  { start: '2026-11-01T08:30:00Z', timeZone: 'America/Los_Angeles' },
  { start: '2026-11-21T09:50:00Z', timeZone: 'Pacific/Kiritimati' },
  { start: '2026-11-21T10:50:00Z', timeZone: 'Pacific/Pago_Pago' },
  { start: '2026-10-03T15:20:00Z', timeZone: 'Australia/Lord_Howe' },
  { start: '2026-11-21T18:20:00Z', timeZone: 'Asia/Kolkata' },
];
/** The function's time-out. */
const tickSeconds = 55;
/** Pulses, tail and a count; locating and reading; confirming what is missing; audits. */
const requestsBesideReads = 5 + 100 + 100 + 20;
/** A stretch of up to some hundred days that cannot be proven is halved down to its first day, whatever the budget. */
const readsBeyondBudget = 8;
/** Slices in which a history of a few years is read, back to the oldest. */
const slicesOfBaseline = 15;
/** A call to the ledger or the announcer that takes no longer than this is what a tick can rely on. */
const dependableMs = 1_000;
const auditsOff = 9e12;

/** What one tick did, and how it ended. */
export interface Ticked {
  readonly report: TickReport | undefined;
  readonly invocation: Invocation;
}

/** A world, its host, and all that the ticks work with; the same seed is the same life. */
export class Life {
  readonly random: Random;
  /** What operators do; what happens otherwise does not depend on how often they are asked. */
  readonly operators: Random;
  readonly timeline: Timeline;
  readonly world: World;
  readonly host: Host;
  readonly ledger: LaggingLedger;
  /** What a mutant has broken, under the eyes of the witness, or nothing. */
  readonly broken: BrokenParts;
  readonly audience: Audience;
  readonly witness: Witness;
  readonly passage: Passage;
  readonly coverage = new Coverage();
  readonly findings: string[] = [];
  settings: TickSettings;
  isAudited = true;
  /** Ops have stopped the integration. */
  isPaused = false;
  #ticks = 0;
  #operations = 0;

  constructor(seed: number, broken: BrokenParts = intact) {
    const random = new Random(seed);
    const { note } = this.coverage;
    const place = random.chance(0.4) ? places[0] : random.pick(places);
    const { start, timeZone } = place ?? { start: '2026-11-21T08:00:00Z', timeZone: 'UTC' };
    const timeline = new Timeline(start);
    const today = () => timeline.now().toZonedDateTimeISO(timeZone).toPlainDate();
    if (timeZone !== 'UTC') note('time zone other than UTC');
    this.random = random;
    this.operators = new Random(~seed);
    this.timeline = timeline;
    this.world = new World(random, today, note);
    this.host = new Host(random, this.world, note);
    this.ledger = new LaggingLedger(timeline, random, note, broken.ledgerRules);
    this.broken = broken;
    const since = today().subtract({ days: 30 }).toString();
    const { holdAbove, alerts } = tickSettings();
    this.settings = tickSettings({
      name: 'sim',
      timeZone,
      holdAbove: random.chance(0.3) ? 5 : random.chance(0.3) ? 50 : holdAbove,
      announce: random.chance(0.6) ? 'none' : random.chance(0.5) ? 'all' : { since },
      alerts: {
        ...alerts,
        digestEvery: random.chance(0.25) ? (random.pick([5, 60]) ?? 5) : undefined,
        quietHours: random.chance(0.15) ? { from: '22:00', to: '06:00' } : undefined,
      },
    });
    const { digestEvery, quietHours } = this.settings.alerts;
    if (digestEvery) note('digest of several ticks');
    if (quietHours) note('quiet hours');
    this.audience = new Audience(random, this.settings, note, this.findings);
    this.witness = new Witness(this.world, this.host, note, this.findings);
    this.passage = new Passage(timeline, random, note);
  }

  /** All trouble that is not in the world itself is over. */
  calm(): void {
    this.host.switches = peaceful;
    this.passage.dangers = safe;
    this.audience.refusals = 0;
  }

  auditsOff(): void {
    const audit = { ...this.settings.audit, recentMs: auditsOff, historyMs: auditsOff };
    this.settings = { ...this.settings, audit };
    this.isAudited = false;
  }

  async restartBaseline(): Promise<void> {
    const changed = await this.#operate((parts, call) =>
      restartBaseline(parts, { command: 'restart-baseline' }, call),
    );
    if (changed) this.coverage.note('baseline restarted');
  }

  /**
   * Operators have looked at what has collapsed, and say that it is right.
   * @returns whether it was still so when they said it
   */
  async acceptTotal(): Promise<boolean> {
    const total = this.world.entries.size;
    const changed = await this.#operate((parts, call) =>
      acceptTotal(parts, { command: 'accept-total', total }, call),
    );
    if (changed) this.coverage.note('total accepted');
    return changed;
  }

  /** What operators ask for, as the second function carries it out: it may fail and be killed like a tick. */
  async #operate(
    carryOut: (
      parts: OperationParts,
      call: Call,
    ) => Promise<Outcome<{ readonly changed: boolean }>>,
  ): Promise<boolean> {
    this.#operations += 1;
    const { timeline, passage, broken } = this;
    const killedAt = timeline.now().add({ seconds: tickSeconds });
    const invocation = new Invocation(`operation-${this.#operations}`, killedAt);
    const ledger = passage.ledger(broken.ledger(this.ledger), invocation);
    const client = passage.client(this.host, invocation);
    const partner = broken.partner(partnerReader(client, timeline, broken.seam));
    const settings = broken.settings(this.settings);
    const parts = Object.assign(Object.create(null), {
      ...{ settings, clock: timeline, partner, ledger, opsLedger: ledger },
    });
    const limit = new TimeLimit(killedAt, timeline);
    try {
      const { result } = await carryOut(parts, { id: invocation.id, killedAt, limit });
      return result.changed;
    } catch (error) {
      if (!(error instanceof NotifierError || error instanceof Killed))
        this.findings.push(`an operation failed: ${error}`);
      return false;
    }
  }

  /** One invocation, from its start to its end. */
  async tick(): Promise<Ticked> {
    this.#ticks += 1;
    const { timeline, passage, broken } = this;
    const deadline = timeline.now().add({ seconds: tickSeconds });
    const invocation = new Invocation(`tick-${this.#ticks}`, deadline);
    const client = passage.client(this.host, invocation);
    const parts: TickParts = {
      settings: broken.settings(this.settings),
      rules: broken.rules,
      clock: timeline,
      partner: this.witness.partner(
        broken.partner(partnerReader(client, timeline, broken.seam)),
        invocation,
      ),
      ledger: passage.ledger(
        this.witness.ledger(broken.ledger(this.#pausable()), this.settings.holdAbove),
        invocation,
      ),
      announcer: passage.announcer(this.audience, invocation),
      journal: { warn: (what) => this.coverage.note(`warned: ${what}`) },
    };
    let report: TickReport | undefined;
    try {
      report = await tick(parts, { id: invocation.id, deadline });
    } catch (error) {
      // Failed or killed: the next tick goes on. What it must not do is go wrong.
      if (!(error instanceof NotifierError || error instanceof Killed))
        this.findings.push(`a tick failed: ${error}`);
    }
    passage.trace(
      `${invocation.id} ended: ${JSON.stringify(report ?? invocation.end ?? 'failed')}`,
    );
    this.#check({ report, invocation });
    return { report, invocation };
  }

  #pausable() {
    const { ledger } = this;
    return new Proxy(ledger, {
      get: (target, name) => {
        if (name === 'state' && this.isPaused)
          return async () => ({ ...(await ledger.state()), paused: true });
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** What holds for each tick, whatever happened. */
  #check({ report, invocation }: Ticked): void {
    const { end, isFrozen, longestCallMs, longestRead, requests } = invocation;
    const { note } = this.coverage;
    note(end ?? report?.outcome ?? 'failed');
    if (report?.cutShort) note('cut short');
    if (report?.collapsed) note('collapsed');
    if (report?.held) note('held');
    if (report?.unexplained) note('unexplained');
    if (report?.outcome === 'paused' && requests + invocation.writes > 0)
      this.findings.push('a paused integration was not left alone');
    const isBaseline = report === undefined || report.outcome === 'baseline';
    const reads = isBaseline ? slicesOfBaseline : 2 * readsBeyondBudget;
    if (requests > requestsBesideReads + reads * longestRead)
      this.findings.push(`a tick of ${requests} requests, its longest read ${longestRead}`);
    if (end === 'out of time' && !isFrozen && longestCallMs <= dependableMs)
      this.findings.push(
        `a tick ran out of time although no call took more than ${longestCallMs} ms`,
      );
  }
}
