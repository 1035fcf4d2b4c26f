import { isDeepStrictEqual } from 'node:util';
import type { Temporal } from 'temporal-polyfill';
import { baselineNotice } from '../delivery/notices.ts';
import { activityAfter } from '../detection/activity.ts';
import { backwards, type Position } from '../detection/baseline.ts';
import { Calendar, type ProofCounts } from '../detection/calendar.ts';
import { countDeltas, tallied } from '../detection/compare.ts';
import {
  blockedBy,
  type ConditionName,
  conditionsOf,
  type Facts,
  isLasting,
  isMended,
  isUntold,
  type OpenCondition,
  pauseSeen,
} from '../detection/conditions.ts';
import { asking, stillAsked } from '../detection/day-entries.ts';
import { type RecentWindow, recentWindow } from '../detection/days.ts';
import { indexLagMinutes, isDigestDue } from '../detection/digest-schedule.ts';
import { auditPlanOf, calendarLearned, savedUntil, waited } from '../detection/due.ts';
import { digestOf } from '../detection/fingerprint.ts';
import { believed, unexplainedAfter } from '../detection/locate.ts';
import { nothingMissing } from '../detection/missing.ts';
import { backOffAfter, isBackingOff, remembered, unhurried } from '../detection/pace.ts';
import { selfCheckSeen } from '../detection/self-check.ts';
import { silenceAfter, silenceEnded, silenceSeen } from '../detection/silence.ts';
import {
  type Answer,
  dueWork,
  hasRoomForAll,
  type Progress,
  type Step,
} from '../detection/worklist.ts';
import { isRefusal, NotifierError, reachOf } from '../errors.ts';
import { CredentialsNotSetError } from '../partner/secret.ts';
import type { Journal } from '../ports/journal.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import {
  type Lease,
  type LeasedState,
  noLease,
  type State,
  type StateChanges,
} from '../ports/state.ts';
import { Announcement, type AnnouncementTally, nothingAnnounced } from './announcement.ts';
import { announceNewcomers, isNewsInBaseline, totalToBe } from './baseline.ts';
import {
  isAccepted,
  logOdd,
  tell,
  tellFlood,
  unreported,
  waitingSeen,
  watching,
} from './conditions.ts';
import type { DeliveryTally } from './deliver.ts';
import { Looks } from './looks.ts';
import { readPage } from './page.ts';
import type { Effort, TickParts } from './parts.ts';
import { type ReadingContext, readCalendar, readDays } from './read-days.ts';
import { TimeLimit } from './time-limit.ts';

export interface TickRun {
  /** Unique; becomes the owner of the lease. */
  readonly id: string;
  /** When the invocation is killed. */
  readonly deadline: Temporal.Instant;
}

export interface TickReport extends AnnouncementTally, DeliveryTally, Effort {
  readonly integration: string;
  /**
   * `completed`: all that there was time for. `busy`: another tick is at work. `baseline`: what was found was recorded, not announced.
   * `paused`: by ops. `backing-off`: the partner has refused this integration a moment ago,
   * or the pace has left no room for a pulse.
   * `no-credentials`: nobody has stored any yet, and no tick was ever completed.
   * `disturbed`: what is in the way of every tick may end by itself, and operations are not to be told yet.
   */
  readonly outcome:
    | 'completed'
    | 'baseline'
    | 'busy'
    | 'paused'
    | 'backing-off'
    | 'no-credentials'
    | 'disturbed';
  /** Records without the documented shape. */
  readonly quarantined: number;
  /** Days read with proof or without, because something differed or for an audit. */
  readonly examined: number;
  /** Days read, by what proves that nothing was overlooked. */
  readonly proofs: ProofCounts;
  /** What operations have been told of and lasts, and how many of whatever it counts. */
  readonly conditions: Readonly<Partial<Record<ConditionName, number>>>;
  /** By how much the partner's total differs although no day does. */
  readonly unexplained: number;
  /** Certifications that the partner's list lacks and that are not withdrawn. */
  readonly missing: number;
  /** Changes that could not be committed; the tick did the rest, and the next one tries again. */
  readonly failed: number;
  /** Why the first of them could not, or what has disturbed the tick. */
  readonly failure?: NotifierError | undefined;
  /** Stopped at a boundary because time was running out; the next tick goes on. */
  readonly cutShort: boolean;
}

/** In place of a pulse's digest: the next tick compares the page again. A state without a digest has it search, too. */
const lookAgain = '';

/** What a tick finds out and keeps; what it owes is known at its end. */
type Learned = Omit<StateChanges, 'dirtySince'>;

/**
 * One scheduled run for one integration.
 *
 * Quiet: state, pulse, heartbeat; no lease, unless something is owed. Otherwise the lease, what earlier ticks owe,
 * the page, the search for what it does not show, and the days that are due: each read, compared, passed through
 * the gate, committed and delivered (readDays). At the end people are told, then operations, and then the state is
 * written, which so never claims what nobody was told. The first reading reads its days by the same loop.
 *
 * @throws NotifierError when the rest of the tick would make no sense (credentials, partner or
 * ledger unavailable); what was committed before stays, and the state stays dirty if need be.
 */
export async function tick(parts: TickParts, run: TickRun): Promise<TickReport> {
  const effort = parts.measure();
  const state = await parts.ledger.state();
  const tick = new Tick(parts, run, state, effort);
  if (state.paused) return tick.stop('paused', state);
  try {
    return await tick.story(state);
  } catch (error) {
    return await tick.failed(error, state);
  } finally {
    await tick.keepPace(state);
  }
}

/** What a tick works with that has the lease. */
interface Work {
  readonly lease: Lease;
  readonly state: LeasedState;
  readonly announcement: Announcement;
  readonly window: RecentWindow;
}

class Tick {
  readonly #parts: TickParts;
  readonly #effort: () => Effort;
  readonly #limit: TimeLimit;
  readonly #run: TickRun;
  /** What operations are to be told of at the end. */
  readonly #facts: Facts;
  readonly #learned: { -readonly [Name in keyof Learned]: Learned[Name] } = {};
  /** Once this tick has the lease: the state as it was before the lease was written, and what is announced. */
  #work: Work | undefined;
  /** What operations know. */
  #open: Map<ConditionName, OpenCondition>;
  /** How many days this tick has read, and when it began to: proofs of before are those of other ticks. */
  #examined = 0;
  #readingSince = 0;

  constructor(parts: TickParts, run: TickRun, state: State, effort: () => Effort) {
    const { clock } = parts;
    const { pace } = parts.partner;
    pace.value = state.pace ?? unhurried;
    this.#open = new Map(state.conditions);
    const nowMs = clock.now().epochMilliseconds;
    const stated = {
      ...(state.paused && pauseSeen(state.pause, this.#open, nowMs)),
      ...selfCheckSeen(state.selfCheck, state.baseline.begunAt, nowMs),
    };
    this.#facts = { pace, stated, quarantined: new Map(), oddFields: new Map() };
    const partner = watching(parts.partner, this.#facts);
    // Whatever is denied and does not end the tick is told to the journal.
    const warn: Journal['warn'] = (what, details) => {
      for (const problem of Object.values(details)) this.#noteDenial(problem);
      parts.journal.warn(what, details);
    };
    this.#parts = { ...parts, partner, journal: { warn } };
    this.#effort = effort;
    this.#limit = new TimeLimit(run.deadline, clock);
    this.#run = run;
  }

  async story(before: State): Promise<TickReport> {
    const { clock, settings } = this.#parts;
    const isLeftAlone = isBackingOff(before, clock.now());
    const isOwing =
      before.dirtySince !== undefined || isDigestDue(before.digest, clock.now(), settings);
    // What is owed already goes out also where the partner is left alone.
    const isAtWork = isOwing || (!isLeftAlone && before.baseline.status !== 'completed');
    const leased = isAtWork ? await this.#takeLease() : undefined;
    const state = leased?.state ?? before;
    if (isLeftAlone) return this.stop('backing-off', state);
    if (isAtWork && leased === undefined) return this.stop('busy', state);
    if (this.#limit.wasReached) return this.stop('completed', state);

    const pulse = await this.#parts.partner.pulse(this.#limit.deadline);
    if (state.backOff !== undefined) await this.#parts.ledger.saveState({ backOff: undefined });
    this.#facts.blocked = {};
    if (this.#isQuiet(state, pulse)) return this.#finish('completed', state);
    return this.#workOn(state, leased, pulse);
  }

  /** With the lease, and a pulse that no other tick has outdated. */
  async #workOn(before: State, leased: Work | undefined, first: PulseRead): Promise<TickReport> {
    const { rules, partner } = this.#parts;
    const work = leased ?? (await this.#takeLease());
    if (work === undefined) return this.stop('busy', before);
    const isOutdated = leased === undefined && rules.isPulseOutdated(before, work.state);
    const pulse = isOutdated ? await partner.pulse(this.#limit.deadline) : first;
    if (work.state.baseline.status !== 'completed') return this.#readBaseline(work, pulse);
    await this.#look(work, pulse);
    return this.#finish('completed', work.state);
  }

  /** @throws what has failed, save where there is nothing but to wait */
  async failed(error: unknown, state: State): Promise<TickReport> {
    // Not even the pulse: what is owed is out, and the rest is up to the next tick.
    if (reachOf(error) === 'pace') return this.stop('backing-off', this.#work?.state ?? state);
    const { clock } = this.#parts;
    if (error instanceof NotifierError) Object.assign(this.#facts, blockedBy(error));
    this.#noteDenial(error);
    const isKept = await this.#attempt('conditions not told', () => this.#tell());
    const isPassing = this.#isPassing(isKept);
    const work = this.#work;
    // The digest of what was delivered goes out now: the next tick would tell of it once more otherwise.
    if (work) await this.#attempt('digest not sent', () => work.announcement.tellPeople());
    // A deployment that waits for its credentials is no failure; one that has lost them is.
    const isNew = error instanceof CredentialsNotSetError && state.heartbeat === undefined;
    const backOff = isRefusal(error) && !isPassing && backOffAfter(state.backOff, clock.now());
    await this.#attempt('failure not noted', () =>
      this.#noteFailure(state, isNew ? 0 : 1, backOff),
    );
    if (isNew) return this.#report('no-credentials', state);
    if (!isPassing || !(error instanceof NotifierError)) throw error;
    return { ...this.#report('disturbed', state), failure: error };
  }

  /**
   * What the next tick is to know of one that has failed; where another tick has the lease by now, that one knows better.
   * `dirty` stays: the next tick, which need not wait for the lease to run out, cleans up.
   */
  async #noteFailure(state: State, failed: 0 | 1, backOff: State['backOff'] | false) {
    const { denial } = this.#facts;
    const known = {
      activity: this.#activity(state, failed),
      ...(backOff && { backOff }),
      ...(denial && { denial }),
      ...(this.#work && noLease),
    };
    await this.#parts.ledger.saveState(known, this.#work?.lease);
  }

  /** Whether what is in the way of every tick may end by itself, and operations are not to be told yet: so the state says. */
  #isPassing(isKept: boolean): boolean {
    const name = this.#facts.blocked?.name;
    return isKept && name !== undefined && isUntold(this.#open.get(name));
  }

  /** What the next tick has to know of the pace, whatever has become of this one: it would only be refused again. */
  async keepPace(before: State): Promise<void> {
    const { ledger, partner } = this.#parts;
    const { value, perMinute } = partner.pace;
    const pace = remembered(value, perMinute, this.#nowMs);
    if (isDeepStrictEqual(pace, before.pace)) return;
    await this.#attempt('pace not kept', () => ledger.saveState({ pace }));
  }

  /** At a tick's end: what goes wrong now must not hide how it ended. @returns whether nothing has */
  async #attempt(whatFails: string, step: () => Promise<unknown>): Promise<boolean> {
    try {
      await step();
      return true;
    } catch (error) {
      this.#parts.journal.warn(whatFails, { error });
      return false;
    }
  }

  /**
   * The last look has left nothing, nothing has changed since that a pulse can see, no audit is due,
   * and nothing is to be reported.
   */
  #isQuiet(state: State, pulse: PulseRead): boolean {
    const left = this.#left(state);
    return (
      state.baseline.status === 'completed' &&
      !left.toFind &&
      pulse.count === state.expected + state.unexplained &&
      digestOf(pulse, state.salt) === state.pulseDigest &&
      !left.toRead &&
      unreported(this.#facts, state).length === 0
    );
  }

  /** A tick that was killed may have counted what it committed in the calendar, and not yet in the state. */
  async #caughtUp({ state, window }: Work): Promise<LeasedState> {
    const entries = await this.#parts.ledger.calendar(state.years);
    const { total: expected, missing: total } = new Calendar(entries, window.days);
    const isAnyMissing = state.missing !== undefined || total > 0;
    const missing = { ...(state.missing ?? nothingMissing), total };
    return { ...state, expected, ...(isAnyMissing && { missing }) };
  }

  /** The changes that the page shows; then, if they are not all, the search for the others; then audits. */
  async #look(work: Work, pulse: PulseRead): Promise<void> {
    const { announcement, window } = work;
    const { rules, clock, settings, ledger } = this.#parts;
    const state = work.state.dirtySince ? await this.#caughtUp(work) : work.state;
    const page = await readPage(this.#parts, this.#limit, pulse, state);
    const nowMs = clock.now().epochMilliseconds;
    const count = pulse.count - believed(state, settings.withdrawAfterMs, nowMs);
    const missing = state.missing && rules.sighted(state.missing, ({ id }) => page.seen.has(id));
    if (missing !== state.missing) this.#learned.missing = missing;
    announcement.expect(state, count);
    const done = await announcement.announce(page.changes, { in: 'page' });
    const deltas = countDeltas(done);
    await ledger.addToDays(deltas);
    this.#learned.expected = [...deltas.values()].reduce((all, one) => all + one, state.expected);
    const newest = done.flatMap((one) =>
      one.kind === 'created' ? one.assessment.certified_on : [],
    );
    const silence = silenceEnded(state.silence, newest, window.today);
    this.#learned.silence = silence;

    // Audits that time is too short for leave nothing: they stay due.
    const isInTime = !this.#limit.wasReached;
    // What an earlier tick left to be found is searched for, also if the total agrees: one may have come for one gone.
    const { toFind, toRead } = this.#left(state);
    const differs = !page.isAll || toFind;
    const caughtUp = { ...work, state: { ...state, missing, silence } };
    const toBeFound = Math.max(0, state.expected - count);
    const isAllLocated =
      differs || toRead ? await this.#readDue(caughtUp, pulse, toBeFound, differs) : page.isAll;
    const { failures, tally } = announcement.now;
    const isLeft = !isAllLocated || !isInTime || failures > 0;
    const { missing: stillMissing } = { missing, ...this.#learned };
    const noted = new Set(stillMissing?.notes.map(({ id }) => id));
    // The next tick compares the page again if another tick has committed something of it first, perhaps as it was
    // before, or if it shows what is noted as missing: seen once more, that note is cleared.
    const isSeen =
      tally.conflicts === 0 &&
      !page.isOlder &&
      !this.#limit.wasReached &&
      !pulse.assessments.some(({ id }) => noted.has(id));
    const digest = isSeen ? digestOf(pulse, state.salt) : lookAgain;
    this.#learned.pulseDigest = isLeft ? undefined : digest;
    this.#learned.agreed = rules.stillAgreed(page.agreed, announcement.now.touched, state.salt);
  }

  /**
   * What is left to be found: the last search came to no end, or its result is to be tried again. What is left to be
   * read: a day that did not fit into a tick, and the days that are due.
   */
  #left({ pulseDigest, unexplainedSince, heartbeat, missing, cursor, dueAt }: State) {
    const nowMs = this.#parts.clock.now().epochMilliseconds;
    const isSearchedAgain =
      unexplainedSince !== undefined &&
      heartbeat !== undefined &&
      this.#parts.rules.isSearchedAgain(unexplainedSince, Date.parse(heartbeat), nowMs);
    return {
      toFind: pulseDigest === undefined || isSearchedAgain,
      toRead: cursor !== undefined || Math.min(dueAt, missing?.lookAt ?? dueAt) <= nowMs,
    };
  }

  /**
   * Reads the days that are due, and learns what the calendar says then.
   *
   * @param toBeFound how many are missing by the partner's total, and not found yet
   * @returns whether each difference was found, read and committed
   */
  async #readDue(work: Work, pulse: PulseRead, toBeFound: number, differs: boolean) {
    const { state, lease, window } = work;
    const { ledger, clock, settings, rules } = this.#parts;
    const { withdrawAfterMs } = settings;
    const { quarantined } = this.#facts;
    const isMalformed = (id: number) =>
      quarantined.has(String(id)) || state.reported.includes(String(id));
    const looks = new Looks(
      { parts: this.#parts, limit: this.#limit, lease, salt: state.salt, toBeFound, isMalformed },
      state.missing ?? nothingMissing,
    );
    const { perMinute, value } = this.#parts.partner.pace;
    const allowed = value.learned ?? perMinute;
    // A minute's pace is not for audits alone.
    const most = Math.ceil(allowed / 2);
    const audit = { ...settings.audit, requests: Math.min(settings.audit.requests, most) };
    const began = clock.now().epochMilliseconds;
    this.#readingSince = began;
    const before = await readCalendar(ledger, window);
    const plan = auditPlanOf(before, window.from, audit);
    const dues = { ...plan, withdrawAfterMs };
    const list = dueWork({
      calendar: before,
      total: pulse.count,
      differs,
      searching: state.searching,
      cursor: state.cursor,
      recentFrom: window.from,
      auditRequests: audit.requests,
      turn: hasRoomForAll(state, allowed) ? 0 : Math.floor(began / 60_000),
      rules,
      waited: (kind, calendar) =>
        kind === 'audit' && began < state.auditsFrom
          ? []
          : waited(kind, calendar, dues, this.#nowMs, kind === 'soon' ? looks.due(calendar) : []),
    });
    const reading = { ...this.#context(work), looks, isNews: () => true };
    const done = await this.#carryOut(list, reading, { calendar: before, cursor: state.cursor });
    const { calendar, cursor } = done;
    await ledger.saveDays(stillAsked(before, calendar));
    const { isAllLocated, hasSearched, searching: narrowed, audited } = done.end;
    const auditsFrom = audited > 0 ? savedUntil(audited, plan, this.#nowMs) : state.auditsFrom;

    const missing = looks.conclude(calendar);
    const { isNoticeOwed } = state.baseline;
    const isToldNow =
      isNoticeOwed && (await isAccepted(this.#parts, baselineNotice(settings.name, calendar)));
    this.#facts.calendar = calendar;
    // What came or went while the search was on cannot be told from a total that no day explains: the next search will.
    const rest = isAllLocated && differs ? pulse.count - calendar.total : undefined;
    // A search that a whole tick has not narrowed begins anew with all days: it must not stay with these for ever.
    const hasStood = hasSearched && isDeepStrictEqual(narrowed, state.searching);
    const learned: Learned = {
      ...calendarLearned(calendar, plan, auditsFrom),
      ...(isToldNow && { baseline: { ...state.baseline, isNoticeOwed: false } }),
      ...(isMended(calendar, quarantined.size) && state.reported.length > 0 && { reported: [] }),
      silence: silenceAfter(calendar, window.today, state.silence),
      cursor,
      searching: hasStood ? undefined : narrowed,
      ...unexplainedAfter(state, rest, began),
      missing,
    };
    Object.assign(this.#learned, learned);
    return isAllLocated;
  }

  /** The first reading: its start day, and back to the oldest, over as many ticks as it takes. */
  async #readBaseline(work: Work, pulse: PulseRead): Promise<TickReport> {
    const { ledger, clock, settings } = this.#parts;
    const { lease, state, announcement, window } = work;
    const context = this.#context(work);
    const { before, sliceDays, bookmark, isAnew } = state.baseline;
    const { startDay = window.today, begunAt = clock.now().epochMilliseconds } = state.baseline;
    const begun = { status: 'running', begunAt, startDay, isAnew } as const;
    const position = { before, sliceDays };
    announcement.expect(state, await totalToBe(context, pulse));
    if (before !== undefined) await announceNewcomers(context, pulse, startDay);
    else await ledger.saveState({ baseline: { ...begun, ...position, bookmark } }, lease);

    const list = backwards({
      position,
      cursor: bookmark,
      startDay,
      isStartOnly: settings.baseline === 'fan-out',
      window,
    });
    const reading = {
      ...context,
      isNews: isNewsInBaseline(this.#parts, state),
      keep: (reached: Position) => ledger.saveState({ baseline: { ...begun, ...reached } }, lease),
    };
    const start = { calendar: await readCalendar(ledger, window), cursor: bookmark };
    const { calendar, cursor, end } = await this.#carryOut(list, reading, start);
    this.#learned.baseline = { ...begun, ...end.position, bookmark: cursor };
    if (end.isCompleted) {
      // Operations hear of it before the state says so: a crash in between tells them twice.
      const notice = baselineNotice(settings.name, calendar);
      const isNoticeOwed = !(await isAccepted(this.#parts, notice));
      this.#learned.baseline = { ...this.#learned.baseline, status: 'completed', isNoticeOwed };
      const plan = auditPlanOf(calendar, window.from, settings.audit);
      Object.assign(this.#learned, calendarLearned(calendar, plan, 0));
      // Whatever has changed since this pulse shows in the next one, or in its count. What has changed on days
      // that earlier ticks have read shows in this one: the next tick compares it.
      if (state.baseline.begunAt === undefined)
        this.#learned.pulseDigest = digestOf(pulse, state.salt);
    }
    return this.#finish('baseline', state);
  }

  /** The only loop of a tick that reads: one step after the other, until nothing is due or time is up. */
  async #carryOut<End>(
    list: Generator<Step, End, Answer>,
    reading: ReadingContext,
    start: Progress,
  ): Promise<Progress & { readonly end: End }> {
    let { calendar, cursor } = start;
    let answer: Answer = { calendar, isTimeUp: false };
    for (;;) {
      const next = list.next(answer);
      if (next.done) return { calendar, cursor, end: next.value };
      const step = next.value;
      const isTimeUp = this.#limit.noteIfReached();
      if (step.kind === 'reached') await reading.keep?.(step.position);
      if (step.kind === 'located') calendar = asking(calendar, step.days, this.#nowMs);
      const done = isTimeUp ? {} : await this.#take(step, reading, { calendar, cursor });
      const now = { calendar, cursor, ...done };
      ({ calendar, cursor } = now);
      const isOver = isTimeUp || done.isTimeUp || this.#limit.wasReached;
      answer = { ...done, calendar, cursor, isTimeUp: isOver };
    }
  }

  /** @returns what has come of a step; nothing of one that only says something */
  async #take(step: Step, reading: ReadingContext, before: Progress): Promise<Partial<Answer>> {
    if (step.kind === 'read') {
      const read = await readDays(reading, step, before);
      if (reading.looks) this.#examined += step.days.length;
      return read;
    }
    if (step.kind !== 'count' && step.kind !== 'oldest') return {};
    const { partner } = this.#parts;
    const asked = await this.#limit.ask(
      async (deadline): Promise<Pick<Answer, 'count' | 'oldest'>> =>
        step.kind === 'count'
          ? { count: await partner.count(step.range, deadline) }
          : { oldest: await partner.oldestDay(deadline) },
    );
    return asked === 'out-of-time' ? { isTimeUp: true } : asked;
  }

  get #nowMs(): number {
    return this.#parts.clock.now().epochMilliseconds;
  }

  /** What the steps that read days work with. */
  #context({ state, announcement }: Work) {
    return { parts: this.#parts, limit: this.#limit, salt: state.salt, announcement, state };
  }

  /** The lease, and with it the duty to deliver what an earlier tick left behind. */
  async #takeLease(): Promise<Work | undefined> {
    const { ledger, clock, settings } = this.#parts;
    const lease = this.#limit.leaseOf(this.#run.id);
    const state = await ledger.takeLease(lease, clock.now());
    if (state === undefined) return undefined;
    this.#open = new Map(state.conditions);
    const window = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
    const announcement = new Announcement({
      parts: this.#parts,
      window,
      limit: this.#limit,
      lease,
      tellFlood: (changes) =>
        tellFlood(this.#parts, this.#open, announcement.now.tally.held, changes),
    });
    this.#work = { lease, state, announcement, window };
    // A lease for what is owed changes no certification: what the page agreed with before, it does still.
    if (state.agreed && !state.dirtySince) this.#learned.agreed = state.agreed;
    await announcement.inherit(state);
    return this.#work;
  }

  /** The work is done, or as much of it as could be: what it has done is kept, if this tick has the lease. */
  async #finish(outcome: TickReport['outcome'], state: State): Promise<TickReport> {
    const { ledger, clock, settings, journal } = this.#parts;
    const now = clock.now();
    const malformed = unreported(this.#facts, state);
    if (malformed.length > 0) {
      const news = malformed.map(([, record]) => record);
      this.#learned.reported = [...state.reported, ...malformed.map(([name]) => name)];
      this.#facts.reported = { news, total: this.#learned.reported.length };
    }
    const { missing, unexplained, silence, pulseDigest } = { ...state, ...this.#learned };
    // The first reading does not look for what is missing: it can neither begin nor end that condition.
    if (outcome !== 'baseline')
      this.#facts.absence = { missing, unexplained, steadyMs: settings.withdrawAfterMs };
    if (outcome === 'completed' && pulseDigest !== undefined && !this.#limit.wasReached)
      this.#facts.silent = silenceSeen(silence, settings, now);
    await this.#work?.announcement.tellPeople();
    await this.#tell();
    const work = this.#work;
    const { denial } = this.#facts;
    const end = {
      ...this.#learned,
      ...((denial ?? state.denial) && { denial }),
      ...(work && { ...this.#announced(work, now, outcome), ...noLease }),
      heartbeat: now.toString(),
      activity: this.#activity(state, work?.announcement.now.failures ? 1 : 0),
    };
    if (!(await ledger.saveState(end, work?.lease)))
      journal.warn('lease lost', { owner: work?.lease.owner });
    return this.#report(outcome, state);
  }

  /**
   * What the state keeps of what was announced, and since when some outbox may owe an event. Nothing is changed there
   * (the lease has set it to now) where one was refused or left for the next tick, or a commit has an unknown outcome.
   * What an earlier tick left is out, once the index of undelivered events is sure to show it.
   */
  #announced(
    { state, announcement, window }: Work,
    now: Temporal.Instant,
    outcome: TickReport['outcome'],
  ): StateChanges {
    const { gate, saved, tally, failures, delivery } = announcement.now;
    const today = tallied(state.today, window.today.toString(), tally);
    const kept = {
      digest: delivery.schedule,
      ...(!isDeepStrictEqual(gate, saved) && { gate }),
      ...(today && { today }),
    };
    const isOwn =
      delivery.undelivered > 0 || tally.conflicts > 0 || failures > 0 || this.#limit.wasReached;
    if (isOwn) return kept;
    const since = state.dirtySince;
    const isSettled =
      // It has delivered, and not looked at what else the tick before it has left.
      outcome !== 'backing-off' &&
      since !== undefined &&
      now.since(since).total('minutes') >= indexLagMinutes;
    return { ...kept, dirtySince: isSettled ? undefined : since };
  }

  /** What no retry mends at AWS, for `status`: what fails with a retry may be over before somebody looks. */
  #noteDenial(error: unknown): void {
    if (!(error instanceof NotifierError) || error.fault !== 'aws' || error.retryHelps) return;
    const at = this.#parts.clock.now().toString();
    this.#facts.denial ??= { at, what: error.message, whatToDo: error.whatToDo };
  }

  /** Operations hear of what was seen before the state says that they know. */
  async #tell(): Promise<void> {
    if (this.#work) {
      const { tally, delivery } = this.#work.announcement.now;
      const now = { held: tally.held, undeliverable: delivery.undeliverable };
      this.#facts.waiting ??= await waitingSeen(this.#parts, this.#open, now);
      logOdd(this.#parts, this.#facts, this.#open);
    }
    await tell(this.#parts, this.#open, conditionsOf(this.#facts, this.#open, this.#nowMs));
  }

  /** What the state keeps of this tick beside those before it. @param failed 1: it has */
  #activity(before: State, failed: 0 | 1) {
    const { activity } = this.#work?.state ?? before;
    const { tally } = this.#work?.announcement.now ?? nothingAnnounced;
    const { created, updated, withdrawn, restored, held } = tally;
    const { requests } = this.#effort();
    const found = created + updated + withdrawn + restored;
    return activityAfter(activity, { requests, found, held, failed }, this.#nowMs);
  }

  /** Before its work was done: what it has done is kept, if it has the lease; if not, there is nothing to complete. */
  async stop(outcome: TickReport['outcome'], state: State): Promise<TickReport> {
    if (this.#work) return this.#finish(outcome, state);
    await this.#tell();
    return this.#report(outcome, state);
  }

  #report(outcome: TickReport['outcome'], state: State): TickReport {
    const lasting = Object.fromEntries(
      [...this.#open]
        .filter(([, condition]) => isLasting(condition))
        .map(([name, { number }]) => [name, number]),
    );
    const { tally, delivery, failures, failure } = this.#work?.announcement.now ?? nothingAnnounced;
    const { calendar, quarantined } = this.#facts;
    return {
      integration: this.#parts.settings.name,
      outcome,
      ...tally,
      delivered: delivery.delivered,
      undelivered: delivery.undelivered,
      undeliverable: delivery.undeliverable,
      examined: this.#examined,
      proofs: calendar?.proofsSince(this.#readingSince) ?? {},
      quarantined: quarantined.size,
      conditions: lasting,
      unexplained: this.#learned.unexplained ?? state.unexplained,
      missing: ('missing' in this.#learned ? this.#learned : state).missing?.total ?? 0,
      failed: failures,
      failure,
      cutShort: this.#limit.wasReached,
      ...this.#effort(),
    };
  }
}
