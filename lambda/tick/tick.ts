import { isDeepStrictEqual } from 'node:util';
import type { Temporal } from 'temporal-polyfill';
import { activityAfter } from '../decisions/activity.ts';
import {
  type Begun,
  backwards,
  begunBaseline,
  fatesOf,
  isSettled,
  type Measured,
  type Position,
  rangesAtOnce,
  startOf,
  waitAfter,
} from '../decisions/baseline.ts';
import { Calendar, type ProofCounts } from '../decisions/calendar.ts';
import { countDeltas, type Sighting, stillAgreed, tallied } from '../decisions/compare.ts';
import {
  blockedBy,
  type ConditionName,
  conditionsOf,
  isLasting,
  isMended,
  isUntold,
  type OpenCondition,
  pauseSeen,
  type TickFacts,
  unreadSeen,
} from '../decisions/conditions.ts';
import { asking, stillAsked } from '../decisions/day-entries.ts';
import { type RecentWindow, recentWindow } from '../decisions/days.ts';
import { indexLagMinutes, isDigestDue } from '../decisions/digest-schedule.ts';
import { auditPlanOf, calendarLearned, savedUntil, waited } from '../decisions/due.ts';
import { digestOf, rulesNow } from '../decisions/fingerprint.ts';
import { isGateDue } from '../decisions/gate.ts';
import {
  believed,
  isPulseOutdated,
  isSearchedAgain,
  unexplainedAfter,
} from '../decisions/locate.ts';
import { nothingMissing, sighted, vouchedUntil } from '../decisions/missing.ts';
import {
  backOffAfter,
  isBackingOff,
  knownPace,
  remembered,
  requestsLeft,
  unhurried,
} from '../decisions/pace.ts';
import { selfCheckSeen } from '../decisions/self-check.ts';
import { silenceAfter, silenceEnded, silenceSeen } from '../decisions/silence.ts';
import { judged, mendedBy } from '../decisions/stored-times.ts';
import {
  dueWork,
  hasRoomForAll,
  type ReadStep,
  type Step,
  type StepAnswer,
  type WorkProgress,
} from '../decisions/worklist.ts';
import { baselineNotice } from '../delivery/notices.ts';
import { isRefusal, NotifierError, reachOf } from '../errors.ts';
import { CredentialsNotSetError } from '../partner/secret.ts';
import type { Journal } from '../ports/journal.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import {
  type Baseline,
  type Lease,
  type LeasedState,
  noLease,
  type State,
  type StateChanges,
} from '../ports/state.ts';
import { Announcement, type AnnouncementTally, nothingAnnounced } from './announcement.ts';
import { announceNewcomers, tellingOf, totalToBe } from './baseline.ts';
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
import { compareWithLedger, readPage } from './page.ts';
import type { Effort, TickParts } from './parts.ts';
import {
  beginRead,
  type ReadingContext,
  type ReadUnderWay,
  readCalendar,
  readDays,
} from './read-days.ts';
import { TimeLimit } from './time-limit.ts';
import { SeenTwins } from './twins.ts';

export interface TickRun {
  /** Unique; becomes the owner of the lease. */
  readonly id: string;
  /** When the invocation is killed. */
  readonly deadline: Temporal.Instant;
}

export interface TickReport extends AnnouncementTally, DeliveryTally, Effort {
  readonly integration: string;
  /**
   * - `completed`: everything that there was time for is done.
   * - `baseline`: this tick worked on the baseline.
   * - `busy`: another tick is at work.
   * - `paused`: ops have paused the integration.
   * - `backing-off`: the partner has just refused this integration, or the pace left no room for a
   * pulse.
   * - `no-credentials`: none have been stored yet, and no tick has ever completed.
   * - `disturbed`: a failure blocks every tick, but may end by itself; ops are not told yet.
   */
  readonly outcome:
    | 'completed'
    | 'baseline'
    | 'busy'
    | 'paused'
    | 'backing-off'
    | 'no-credentials'
    | 'disturbed';
  /** Records without an id or a valid day. */
  readonly quarantined: number;
  /** Days read because of a difference or for an audit, with or without proof. */
  readonly examined: number;
  /** Days read, by kind of proof. */
  readonly proofs: ProofCounts;
  /** Open conditions that ops were told of, each with its number. */
  readonly conditions: Readonly<Partial<Record<ConditionName, number>>>;
  /** By how much the partner's total differs although no day does. */
  readonly unexplained: number;
  /** Certifications that the partner's list lacks and that are not withdrawn. */
  readonly missing: number;
  /** Changes that could not be committed. The tick did the rest; the next one tries again. */
  readonly failed: number;
  /** The cause of the first failed change, or of the disturbance. */
  readonly failure?: NotifierError | undefined;
  /** Stopped at a boundary because time was running out; the next tick goes on. */
  readonly cutShort: boolean;
}

/**
 * Saved instead of the pulse's digest, so that the next tick compares the page again. A state
 * without a digest makes it search as well.
 */
const lookAgain = '';

/** Facts that the tick learns for the state. `dirtySince` is known only at its end. */
type Learned = Omit<StateChanges, 'dirtySince'>;

/**
 * One scheduled run for one integration.
 *
 * A quiet tick has a pulse and a heartbeat, and takes the lease only if events are owed. Any other
 * tick takes the lease, delivers owed events, compares the page, and searches for changes that the
 * page does not show. Then it reads the days that are due: each is compared, passed through the
 * gate, committed and delivered (readDays). At the end it sends the digest, tells ops, and writes
 * the state last, so the state never claims a notice that nobody got. The baseline reads its days
 * in the same loop.
 *
 * @throws NotifierError if the rest of the tick would make no sense (credentials, partner or ledger
 * unavailable). Everything committed before stays, and `dirtySince` stays if need be.
 */
export async function tick(parts: TickParts, run: TickRun): Promise<TickReport> {
  const effort = parts.measure();
  const { ledger, clock, settings } = parts;
  const stored = await ledger.state();
  const state = judged(stored, clock.now().epochMilliseconds, settings);
  const tick = new Tick(parts, run, state, effort);
  if (state.paused) return tick.stop('paused', state);
  try {
    return await tick.story(state);
  } catch (error) {
    return await tick.failed(error, state);
  } finally {
    await tick.keepPace(stored);
  }
}

/** Exists only while the tick holds the lease. */
interface Work {
  readonly lease: Lease;
  readonly state: LeasedState;
  readonly announcement: Announcement;
  readonly twins: SeenTwins;
  readonly window: RecentWindow;
}

/** Reads that run side by side, until their turn comes. */
type UnderWay = Map<ReadStep, ReadUnderWay>;

/** Awaits the reads whose turn does not come any more: another batch, or another read, begins. */
async function passed(step: Step, underWay: UnderWay): Promise<void> {
  const isAnother = step.kind === 'together' || (step.kind === 'read' && !underWay.has(step));
  if (!isAnother) return;
  await Promise.allSettled(underWay.values());
  underWay.clear();
}

class Tick {
  readonly #parts: TickParts;
  readonly #effort: () => Effort;
  readonly #limit: TimeLimit;
  readonly #run: TickRun;
  /** The facts from which the conditions follow at the end. */
  readonly #facts: TickFacts;
  readonly #learned: { -readonly [Name in keyof Learned]: Learned[Name] } = {};
  /** Set once this tick has the lease. Its state is the one from before the lease was written. */
  #work: Work | undefined;
  /** The conditions that ops know of. */
  #open: Map<ConditionName, OpenCondition>;
  /**
   * Days that this tick has read. `#readingSince` tells their proofs from those of earlier ticks.
   */
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
    // A denial that does not end the tick reaches only the journal, so it is noted here.
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
    // Owed events go out even while the tick backs off from the partner.
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

  /** Works under the lease, with a pulse that no other tick has outdated. */
  async #workOn(before: State, leased: Work | undefined, first: PulseRead): Promise<TickReport> {
    const { partner } = this.#parts;
    const work = leased ?? (await this.#takeLease());
    if (work === undefined) return this.stop('busy', before);
    const isOutdated = leased === undefined && isPulseOutdated(before, work.state);
    const pulse = isOutdated ? await partner.pulse(this.#limit.deadline) : first;
    if (work.state.baseline.status !== 'completed') return this.#readBaseline(work, pulse);
    await this.#look(work, pulse);
    return this.#finish('completed', work.state);
  }

  /** @throws the error itself, unless the only remedy is to wait */
  async failed(error: unknown, state: State): Promise<TickReport> {
    // The pace had no room even for the pulse. Owed events are out, and the next tick does the
    // rest.
    if (reachOf(error) === 'pace') return this.stop('backing-off', this.#work?.state ?? state);
    const { clock, journal } = this.#parts;
    if (error instanceof NotifierError && error.code === 'lease-lost') {
      journal.warn('lease lost', { owner: this.#run.id });
      return this.#report('busy', state);
    }
    if (error instanceof NotifierError) Object.assign(this.#facts, blockedBy(error));
    this.#noteDenial(error);
    const isSaved = await this.#attempt('conditions not told', () => this.#tell());
    const isPassing = this.#isPassing(isSaved);
    const work = this.#work;
    // The digest of delivered events goes out now; otherwise it waits for the next tick.
    if (work) await this.#attempt('digest not sent', () => work.announcement.tellPeople());
    // A deployment that still waits for its credentials is no failure; one that has lost them is.
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
   * Notes the failure for the next tick, unless another tick has the lease by now. It gives the
   * lease back, so that the next tick need not wait for its end. `dirtySince` stays, so the next
   * tick cleans up.
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

  /**
   * Whether the block may end by itself, so that ops are not told yet. This counts only if the
   * state has it.
   */
  #isPassing(isSaved: boolean): boolean {
    const name = this.#facts.blocked?.name;
    return isSaved && name !== undefined && isUntold(this.#open.get(name));
  }

  /**
   * Saves the learned pace, however the tick ended: without it, the next tick would only be refused
   * again.
   *
   * @param before as it was stored, so that judged times are saved, too
   */
  async keepPace(before: State): Promise<void> {
    const { ledger, partner } = this.#parts;
    const { value, perMinute } = partner.pace;
    const pace = remembered(value, perMinute, this.#nowMs);
    if (isDeepStrictEqual(pace, before.pace)) return;
    await this.#attempt('pace not saved', () => ledger.saveState({ pace }));
  }

  /**
   * Runs a last step of the tick. A failure is only logged, since it must not hide how the tick
   * ended.
   * @returns whether the step succeeded
   */
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
   * Nothing is left from the last search, the pulse shows no change, no day is due, and there is
   * nothing to report.
   */
  #isQuiet(state: State, pulse: PulseRead): boolean {
    const left = this.#left(state);
    return (
      state.baseline.status === 'completed' &&
      !left.toFind &&
      pulse.count === state.expected + state.unexplained &&
      digestOf(pulse, state.salt) === state.pulseDigest &&
      !left.toRead &&
      !isGateDue(state.gateLook, pulse.count === state.expected, this.#nowMs) &&
      unreported(this.#facts, state).length === 0
    );
  }

  /** A killed tick may have counted its commits in the calendar and not in the state. */
  async #caughtUp({ state, window }: Work): Promise<LeasedState> {
    const entries = await this.#parts.ledger.calendar(state.years);
    const { total: expected, missing: total } = new Calendar(entries, window.days);
    const isAnyMissing = state.missing !== undefined || total > 0;
    const missing = { ...(state.missing ?? nothingMissing), total };
    return { ...state, expected, ...(isAnyMissing && { missing }) };
  }

  /**
   * Announces the page's changes. If they are not all, it searches for the others. Audits come
   * last.
   */
  async #look(work: Work, pulse: PulseRead): Promise<void> {
    const { announcement, window } = work;
    const { clock, settings, ledger } = this.#parts;
    const state = work.state.dirtySince ? await this.#caughtUp(work) : work.state;
    const page = await readPage(this.#parts, this.#limit, pulse, state, work.twins);
    const nowMs = clock.now().epochMilliseconds;
    const count = pulse.count - believed(state, settings.withdrawAfterMs, nowMs);
    const missing = state.missing && sighted(state.missing, ({ id }) => page.seen.has(id));
    if (missing !== state.missing) this.#learned.missing = missing;
    announcement.expect(state, count);
    const doubtful = await this.#doubtful(work, page.changes);
    const clear = page.changes.filter((change) => !doubtful.includes(change));
    const done = await announcement.announce(clear, { in: 'page' });
    const deltas = countDeltas(done);
    await ledger.addToDays(deltas, work.lease);
    this.#learned.expected = [...deltas.values()].reduce((all, one) => all + one, state.expected);
    const newest = done.flatMap((one) =>
      one.kind === 'created' ? one.assessment.certified_on : [],
    );
    const silence = silenceEnded(state.silence, newest, window.today);
    this.#learned.silence = silence;

    // Taken before the audits: those that time is too short for stay due and leave nothing.
    const isInTime = !this.#limit.wasReached;
    // An unfinished search goes on even if the total agrees: one certification may have come for
    // one that went.
    const { toFind, toRead } = this.#left(state);
    const differs = !page.isAll || toFind || doubtful.length > 0;
    const caughtUp = { ...work, state: { ...state, missing, silence } };
    const toBeFound = Math.max(0, state.expected - count);
    const isAllLocated =
      differs || toRead
        ? await this.#readDue(caughtUp, pulse, toBeFound, differs, doubtful)
        : page.isAll;
    await this.#holdUnread(work, doubtful);
    const { failures, tally } = announcement.now;
    const isLeft = !isAllLocated || !isInTime || failures > 0;
    const { missing: stillMissing } = { missing, ...this.#learned };
    const noted = new Set(stillMissing?.notes.map(({ id }) => id));
    // The next tick compares the page again if another tick has committed one of its rows first,
    // perhaps an older version. It also does if the page shows a certification noted as missing,
    // since that sighting clears the note.
    const isSeen =
      tally.conflicts === 0 &&
      !page.isOlder &&
      !this.#limit.wasReached &&
      !pulse.assessments.some(({ id }) => noted.has(id));
    const digest = isSeen ? digestOf(pulse, state.salt) : lookAgain;
    this.#learned.pulseDigest = isLeft ? undefined : digest;
    this.#learned.agreed = stillAgreed(page.agreed, announcement.now.touched, state.salt);
    const agrees = !isLeft && pulse.count === this.#learned.expected;
    const isInterrupted = work.state.dirtySince !== undefined;
    Object.assign(this.#learned, await announcement.concludeForetold(agrees, isInterrupted));
  }

  /**
   * Sightings of the page on days that the baseline could not read. Nobody can tell news from
   * history there, so these days are read first.
   */
  async #doubtful({ state, window, lease }: Work, changes: readonly Sighting[]) {
    if (state.unread === undefined || changes.length === 0) return [];
    const calendar = await readCalendar(this.#parts, window, lease);
    const telling = { ...tellingOf(this.#parts, state), purpose: 'search', isRead: false } as const;
    const fates = fatesOf(changes, { ...telling, calendar });
    return changes.filter((change) => fates.get(change) === 'doubtful');
  }

  /** Those that the reads of their days have not shown are held. */
  async #holdUnread(
    { state, announcement, twins }: Work,
    doubtful: readonly Sighting[],
  ): Promise<void> {
    if (doubtful.length === 0 || this.#limit.wasReached) return;
    const shown = doubtful.map(({ assessment }) => assessment);
    const comparing = { parts: this.#parts, limit: this.#limit, state, twins };
    const unsure = new Set(twins.now.map(({ id }) => id));
    const { changes } = await compareWithLedger(comparing, shown, unsure, () => true);
    await announcement.announce(changes, { in: 'page', reason: 'baseline' });
  }

  /**
   * `toFind`: the last search did not end, or it must be repeated. `toRead`: a day did not fit into
   * a tick, or days are due.
   */
  #left({ pulseDigest, unexplainedSince, heartbeat, missing, cursor, dueAt }: State) {
    const nowMs = this.#parts.clock.now().epochMilliseconds;
    const isRepeated =
      unexplainedSince !== undefined &&
      heartbeat !== undefined &&
      isSearchedAgain(unexplainedSince, Date.parse(heartbeat), nowMs);
    return {
      toFind: pulseDigest === undefined || isRepeated,
      toRead: cursor !== undefined || Math.min(dueAt, missing?.lookAt ?? dueAt) <= nowMs,
    };
  }

  /**
   * Reads the days that are due, and learns the calendar's facts from then.
   *
   * @param toBeFound how many are missing by the partner's total, and not found yet
   * @param doubtful sightings whose days are read first
   * @returns whether each difference was found, read and committed
   */
  async #readDue(
    work: Work,
    pulse: PulseRead,
    toBeFound: number,
    differs: boolean,
    doubtful: readonly Sighting[] = [],
  ) {
    const { state, lease, window } = work;
    const { ledger, clock, settings } = this.#parts;
    const { withdrawAfterMs } = settings;
    const { quarantined } = this.#facts;
    const isMalformed = (id: number) =>
      quarantined.has(String(id)) || state.reported.includes(String(id));
    const vouched = vouchedUntil(state.heartbeat, settings.every);
    const looking = { parts: this.#parts, limit: this.#limit, lease, salt: state.salt };
    const looks = new Looks(
      { ...looking, toBeFound, isMalformed, vouchedUntil: vouched },
      state.missing ?? nothingMissing,
    );
    const allowed = knownPace(this.#parts.partner.pace);
    // The other half of a minute's pace is left for other work.
    const most = Math.ceil(allowed / 2);
    const audit = { ...settings.audit, requests: Math.min(settings.audit.requests, most) };
    const began = clock.now().epochMilliseconds;
    this.#readingSince = began;
    const before = await readCalendar(this.#parts, window, lease);
    const asked = doubtful.flatMap(
      ({ assessment }) => before.unreadDayOf(assessment.certified_on) ?? [],
    );
    const begun = asking(before, asked, began);
    const plan = auditPlanOf(before, window.from, audit);
    const dues = { ...plan, withdrawAfterMs };
    const list = dueWork({
      calendar: begun,
      total: pulse.count,
      differs,
      searching: state.searching,
      cursor: state.cursor,
      recentFrom: window.from,
      auditRequests: audit.requests,
      turn: hasRoomForAll(state, allowed) ? 0 : Math.floor(began / 60_000),
      waited: (kind, calendar) =>
        kind === 'audit' && began < state.auditsFrom
          ? []
          : waited(kind, calendar, dues, this.#nowMs, kind === 'soon' ? looks.due(calendar) : []),
    });
    const reading = { ...this.#context(work), looks };
    const done = await this.#carryOut(list, reading, { calendar: begun, cursor: state.cursor });
    const { calendar, cursor } = done;
    await ledger.saveDays(stillAsked(before, calendar), lease);
    const { isAllLocated, hasSearched, searching: narrowed, audited } = done.end;
    const auditsFrom = audited > 0 ? savedUntil(audited, plan, this.#nowMs) : state.auditsFrom;

    const missing = looks.conclude(calendar);
    const { isNoticeOwed } = state.baseline;
    const isToldNow =
      isNoticeOwed && (await isAccepted(this.#parts, baselineNotice(settings.name, calendar)));
    this.#facts.calendar = calendar;
    this.#facts.unread = unreadSeen(calendar);
    // A certification that came or went during the search looks like an unexplained total. The next
    // search tells them apart.
    const rest = isAllLocated && differs ? pulse.count - calendar.total : undefined;
    // A search that a whole tick has not narrowed starts again with all days, so that it cannot get
    // stuck.
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

  /**
   * The baseline: its start day, then back to the oldest day, over as many ticks as it takes. If its
   * days do not explain the total then, a search looks for the others.
   */
  async #readBaseline(work: Work, pulse: PulseRead): Promise<TickReport> {
    const { ledger } = this.#parts;
    const { lease, state, announcement, window } = work;
    const context = this.#context(work);
    const begun = begunBaseline(state.baseline, pulse.count, window.today, this.#nowMs);
    const known = await readCalendar(this.#parts, window, lease);
    this.#facts.unread = unreadSeen(known, begun.wait?.since);
    announcement.expect(state, await totalToBe(context, pulse));
    const isBegun = begun.before !== undefined;
    if (!isBegun && !(await ledger.saveState({ baseline: begun }, lease)))
      return this.#finish('baseline', state);
    const news = isBegun ? await announceNewcomers(context, pulse, begun.startDay, known) : [];
    const calendar = news.length > 0 ? await readCalendar(this.#parts, window, lease) : known;
    if (begun.isReadOnce) await this.#settleBaseline(work, pulse, begun, calendar);
    else await this.#readBack(work, pulse, begun, calendar);
    return this.#finish('baseline', state);
  }

  async #readBack(work: Work, pulse: PulseRead, begun: Begun, calendar: Calendar): Promise<void> {
    const { ledger, settings, partner } = this.#parts;
    const { lease, state, window } = work;
    const { startDay, bookmark } = begun;
    const lookedAt = state.heartbeat === undefined ? 0 : Date.parse(state.heartbeat);
    const { withdrawAfterMs } = settings;
    const start = startOf(begun, pulse.count, lookedAt, withdrawAfterMs, this.#nowMs);
    if (start === undefined) return;
    const list = backwards({ ...start, position: begun, cursor: bookmark, startDay, window });
    const at = (position: Position) => ({
      ...begun,
      ...position,
      wait: undefined,
      bookmark: undefined,
    });
    const reading = {
      ...this.#context(work),
      keep: (position: Position) => ledger.saveState({ baseline: at(position) }, lease),
    };
    const read = await this.#carryOut(list, reading, { calendar, cursor: bookmark });
    const { position, isCompleted, waitsFor } = read.end;
    const wait = waitAfter(begun.wait, waitsFor, this.#nowMs);
    this.#facts.unread = unreadSeen(read.calendar, wait?.since);
    const now = { ...at(position), bookmark: read.cursor, wait };
    this.#learned.baseline = now;
    if (!isCompleted) return;
    this.#learned.baseline = { ...now, isReadOnce: true };
    const count = await this.#limit.ask((deadline) => partner.count({}, deadline));
    if (count === 'out-of-time' || !isSettled(read.calendar, count, begun)) return;
    await this.#endBaseline(now, work, read.calendar);
    // A change after this pulse shows in the next pulse or its count. If earlier ticks read days of
    // this baseline, changes on those days show in this pulse, so the next tick must compare it.
    if (state.baseline.begunAt === undefined)
      this.#learned.pulseDigest = digestOf(pulse, state.salt);
  }

  /** All ranges are read: this searches for certifications that the total has and the days lack. */
  async #settleBaseline(work: Work, pulse: PulseRead, begun: Begun, before: Calendar) {
    let calendar = before;
    let isOver = isSettled(calendar, pulse.count, begun);
    if (!isOver) {
      const isAllLocated = await this.#readDue(work, pulse, 0, true);
      calendar = this.#facts.calendar ?? before;
      isOver = isAllLocated || calendar.total === pulse.count;
    }
    if (isOver) await this.#endBaseline(begun, work, calendar);
  }

  async #endBaseline(baseline: Baseline, { window }: Work, calendar: Calendar): Promise<void> {
    const { settings } = this.#parts;
    // Ops are told before the state says so: a crash in between tells them twice.
    const notice = baselineNotice(settings.name, calendar);
    const isNoticeOwed = !(await isAccepted(this.#parts, notice));
    this.#learned.baseline = { ...baseline, status: 'completed', isNoticeOwed };
    const plan = auditPlanOf(calendar, window.from, settings.audit);
    Object.assign(this.#learned, calendarLearned(calendar, plan, 0));
  }

  /**
   * The only loop of a tick that reads days: one step after the other, until nothing is due or time
   * is up.
   */
  async #carryOut<End>(
    list: Generator<Step, End, StepAnswer>,
    reading: ReadingContext,
    start: WorkProgress,
  ): Promise<WorkProgress & { readonly end: End }> {
    let { calendar, cursor } = start;
    let answer: StepAnswer = { calendar, isTimeUp: false };
    const underWay: UnderWay = new Map();
    try {
      for (;;) {
        const next = list.next(answer);
        if (next.done) return { calendar, cursor, end: next.value };
        const step = next.value;
        const isTimeUp = this.#limit.noteIfReached();
        // Another tick has the lease and goes on from its own place.
        const isLost = step.kind === 'reached' && (await reading.keep?.(step.position)) === false;
        if (step.kind === 'located') calendar = asking(calendar, step.days, this.#nowMs);
        const before = { calendar, cursor };
        const done = isTimeUp ? {} : await this.#take(step, reading, before, underWay);
        const now = { calendar, cursor, ...done };
        ({ calendar, cursor } = now);
        const isOver = isTimeUp || isLost || done.isTimeUp || this.#limit.wasReached;
        answer = { ...done, calendar, cursor, isTimeUp: isOver };
      }
    } finally {
      // Nothing that asks outlives the tick.
      await Promise.allSettled(underWay.values());
    }
  }

  /** @returns the answer to the step; empty for a step that only reports */
  async #take(
    step: Step,
    reading: ReadingContext,
    before: WorkProgress,
    underWay: UnderWay,
  ): Promise<Partial<StepAnswer>> {
    await passed(step, underWay);
    if (step.kind === 'together')
      for (const one of step.steps) underWay.set(one, beginRead(reading, one, before.calendar));
    if (step.kind === 'read') {
      const read = await readDays(reading, step, before, underWay.get(step));
      underWay.delete(step);
      if (reading.looks) this.#examined += step.days.length;
      return { ...read, atOnce: this.#atOnce(read) };
    }
    if (step.kind !== 'count' && step.kind !== 'oldest') return {};
    const { partner } = this.#parts;
    const asked = await this.#limit.ask(
      async (deadline): Promise<Pick<StepAnswer, 'count' | 'oldest'>> =>
        step.kind === 'count'
          ? { count: await partner.count(step.range, deadline) }
          : { oldest: await partner.oldestDay(deadline) },
    );
    return asked === 'out-of-time' ? { isTimeUp: true } : asked;
  }

  #atOnce(read: Measured): number {
    const { partner, settings } = this.#parts;
    const leftMs = this.#limit.deadline.epochMilliseconds - this.#nowMs;
    const room = requestsLeft(partner.pace, this.#nowMs);
    return rangesAtOnce(settings.baseline.atOnce, read, leftMs, room);
  }

  get #nowMs(): number {
    return this.#parts.clock.now().epochMilliseconds;
  }

  #context({ lease, state, announcement, twins }: Work) {
    const telling = tellingOf(this.#parts, state);
    return {
      ...{ parts: this.#parts, limit: this.#limit, lease },
      ...{ announcement, twins, state, telling },
    };
  }

  /** Takes the lease, and with it the duty to deliver events that earlier ticks left. */
  async #takeLease(): Promise<Work | undefined> {
    const { ledger, clock, settings } = this.#parts;
    const lease = this.#limit.leaseOf(this.#run.id);
    const taken = await ledger.takeLease(lease, clock.now());
    if (taken === undefined) return undefined;
    const state = judged(taken, this.#nowMs, settings);
    this.#open = new Map(state.conditions);
    const window = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
    const announcement = new Announcement({
      parts: this.#parts,
      window,
      limit: this.#limit,
      lease,
      tellFlood: (changes, until) =>
        tellFlood(this.#parts, this.#open, announcement.now.tally.held, changes, until),
    });
    const twins = new SeenTwins(state.salt, state.twins);
    this.#work = { lease, state, announcement, twins, window };
    const mended = mendedBy(taken, state);
    if (mended && !(await ledger.saveState(mended, lease))) {
      this.#work = undefined;
      return undefined;
    }
    // A lease for owed events changes no certification, so rows that agreed with the ledger still
    // do.
    if (state.agreed && !state.dirtySince) this.#learned.agreed = state.agreed;
    await announcement.inherit(state);
    return this.#work;
  }

  /**
   * Ends a tick that has done as much of its work as possible. Its results are saved if it still
   * has the lease.
   */
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
    // A baseline does not look for missing certifications, so it can neither begin nor end that
    // condition.
    if (outcome !== 'baseline')
      this.#facts.absence = { missing, unexplained, steadyMs: settings.withdrawAfterMs };
    if (outcome === 'completed' && pulseDigest !== undefined && !this.#limit.wasReached)
      this.#facts.silent = silenceSeen(silence, settings, now);
    if (this.#work) this.#facts.twins = this.#work.twins.now;
    await this.#work?.announcement.tellPeople();
    await this.#tell();
    const work = this.#work;
    const { denial } = this.#facts;
    const end = {
      ...this.#learned,
      ...((denial ?? state.denial) && { denial }),
      ...(work && { ...this.#announced(work, now, outcome), ...noLease }),
      heartbeat: now.toString(),
      ...(state.rules?.number !== rulesNow && {
        rules: { number: rulesNow, since: now.epochMilliseconds },
      }),
      activity: this.#activity(state, work?.announcement.now.failures ? 1 : 0),
    };
    if (!(await ledger.saveState(end, work?.lease)))
      journal.warn('lease lost', { owner: work?.lease.owner });
    return this.#report(outcome, state);
  }

  /**
   * The state's facts on announcements, and since when an outbox may owe an event. `dirtySince`
   * stays as the lease set it if an event was refused or left, or if the outcome of a commit is
   * unknown. An earlier tick's events count as delivered only once the index of undelivered events
   * is sure to have shown them.
   */
  #announced(
    { state, announcement, twins, window }: Work,
    now: Temporal.Instant,
    outcome: TickReport['outcome'],
  ): StateChanges {
    const { gate, saved, tally, failures, delivery, letGo } = announcement.now;
    const today = tallied(state.today, window.today.toString(), tally);
    const kept = {
      digest: delivery.schedule,
      ...(!isDeepStrictEqual(gate, saved) && { gate }),
      ...(!isDeepStrictEqual(twins.now, state.twins ?? []) && { twins: twins.now }),
      ...(today && { today }),
    };
    const isOwn =
      delivery.undelivered > 0 ||
      tally.conflicts > 0 ||
      failures + letGo > 0 ||
      this.#limit.wasReached;
    if (isOwn) return kept;
    const since = state.dirtySince;
    const isIndexSure =
      // A tick that backs off has delivered, but has not looked for other leftovers of the tick
      // before.
      outcome !== 'backing-off' &&
      since !== undefined &&
      now.since(since).total('minutes') >= indexLagMinutes;
    return { ...kept, dirtySince: isIndexSure ? undefined : since };
  }

  /**
   * Notes an AWS error that no retry mends, for `status`. An error that a retry mends may be over
   * before anybody looks.
   */
  #noteDenial(error: unknown): void {
    if (!(error instanceof NotifierError) || error.fault !== 'aws' || error.retryHelps) return;
    const at = this.#parts.clock.now().toString();
    this.#facts.denial ??= { at, what: error.message, whatToDo: error.whatToDo };
  }

  /** Ops are told before the state says that they know. */
  async #tell(): Promise<void> {
    if (this.#work) {
      const { tally, delivery } = this.#work.announcement.now;
      const now = { held: tally.held, undeliverable: delivery.undeliverable };
      this.#facts.waiting ??= await waitingSeen(this.#parts, this.#open, now);
      logOdd(this.#parts, this.#facts, this.#open);
    }
    await tell(this.#parts, this.#open, conditionsOf(this.#facts, this.#open, this.#nowMs));
  }

  /** @param failed 1 if the tick has failed */
  #activity(before: State, failed: 0 | 1) {
    const { activity } = this.#work?.state ?? before;
    const { tally } = this.#work?.announcement.now ?? nothingAnnounced;
    const { created, updated, withdrawn, restored, held } = tally;
    const { requests } = this.#effort();
    const found = created + updated + withdrawn + restored;
    return activityAfter(activity, { requests, found, held, failed }, this.#nowMs);
  }

  /**
   * Ends a tick before its work is done. With the lease its results are saved; without it there are
   * none.
   */
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
