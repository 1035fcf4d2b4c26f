import { isDeepStrictEqual } from 'node:util';
import type { Temporal } from 'temporal-polyfill';
import { auditsDue } from './detection/audit.ts';
import { Calendar, type Proof } from './detection/calendar.ts';
import { compare, countDeltas } from './detection/compare.ts';
import type { ConditionName } from './detection/conditions.ts';
import { tallied } from './detection/day-tally.ts';
import { daysIn, type RecentWindow, recentWindow } from './detection/days.ts';
import { isOneDay, judge, type Pulse, pulseDigest } from './detection/pulse.ts';
import type { Assessment } from './events/assessment.ts';
import type { TickParts } from './parts.ts';
import type { Lease, PulseRead, State, StateChanges } from './ports.ts';
import { Announcement, type AnnouncementTally } from './steps/announcement.ts';
import { isBackingOff, noteRefusal } from './steps/back-off.ts';
import { readBaseline, tellOfCompletion } from './steps/baseline.ts';
import { Conditions, isRefusal } from './steps/conditions.ts';
import { Delivery, type DeliveryTally } from './steps/delivery.ts';
import { Examination } from './steps/examination.ts';
import { indexLagMinutes, isDigestDue } from './steps/owed-digest.ts';
import { Quarantine } from './steps/quarantine.ts';
import { Search } from './steps/search.ts';
import { TimeLimit } from './steps/time-limit.ts';
import { judgeTotal } from './steps/total.ts';

export interface TickRun {
  /** Unique; becomes the owner of the lease. */
  readonly id: string;
  /** When the invocation is killed. */
  readonly deadline: Temporal.Instant;
}

export interface TickReport extends AnnouncementTally, DeliveryTally {
  readonly integration: string;
  /**
   * `busy`: another tick is at work. `baseline`: what was found was recorded, not announced.
   * `paused`: by ops. `backing-off`: the partner has refused this integration a moment ago.
   */
  readonly outcome: 'completed' | 'baseline' | 'busy' | 'paused' | 'backing-off';
  /** Recorded by the baseline and not announced. */
  readonly recorded: number;
  /** Records without the documented shape. */
  readonly quarantined: number;
  /** Days read with proof or without, because something differed or for an audit. */
  readonly examined: number;
  /** Days read, by what proves that nothing was overlooked. */
  readonly proofs: Readonly<Partial<Record<Proof['kind'] | 'none', number>>>;
  /** What operations have been told of and lasts, and how many of whatever it counts. */
  readonly conditions: Readonly<Partial<Record<ConditionName, number>>>;
  /** By how much the partner's total differs although no day does. */
  readonly unexplained: number;
  /** The partner shows less than half of what it has shown before: nothing is inferred from it. */
  readonly collapsed: boolean;
  /** Changes that could not be committed; the tick did the rest, and the next one tries again. */
  readonly failed: number;
  /** Stopped at a boundary because time was running out; the next tick goes on. */
  readonly cutShort: boolean;
}

/** A lease outlives its invocation by a little, so that two never hold it at once. */
const leaseSlackSeconds = 5;
/** What a tick finds out and keeps; what it owes is known at its end. */
type Learned = Omit<StateChanges, 'dirty' | 'dirtySince'>;

/**
 * One scheduled run for one integration:
 * lease, leftovers, pulse, locate, read, compare, commit, deliver, audit, state.
 *
 * A quiet tick takes no lease: it looks, finds nothing and writes its heartbeat.
 *
 * @throws NotifierError when the rest of the tick would make no sense (credentials, partner or
 * ledger unavailable); what was committed before stays, and the state stays dirty if need be.
 */
export async function tick(parts: TickParts, run: TickRun): Promise<TickReport> {
  return new Tick(parts, run).run();
}

class Tick {
  readonly #parts: TickParts;
  readonly #limit: TimeLimit;
  readonly #lease: Lease;
  readonly #began: Temporal.Instant;
  readonly #window: RecentWindow;
  readonly #conditions: Conditions;
  readonly #delivery: Delivery;
  readonly #announcement: Announcement;
  readonly #quarantine: Quarantine;
  readonly #learned: { -readonly [Name in keyof Learned]: Learned[Name] } = {};
  #holdsLease = false;
  /** Since when some outbox may have owed events when this tick took the lease. */
  #inherited: Temporal.Instant | undefined;
  #recorded = 0;
  #examined = 0;
  #proofs: TickReport['proofs'] = {};

  constructor(parts: TickParts, run: TickRun) {
    const { clock, settings } = parts;
    this.#parts = parts;
    this.#began = clock.now();
    this.#limit = new TimeLimit(run.deadline, clock);
    this.#lease = { owner: run.id, until: run.deadline.add({ seconds: leaseSlackSeconds }) };
    this.#window = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
    this.#conditions = new Conditions(parts);
    this.#quarantine = new Quarantine(parts.journal, this.#conditions);
    this.#delivery = new Delivery(parts, this.#limit);
    this.#announcement = new Announcement(
      parts,
      this.#window,
      this.#limit,
      this.#delivery,
      this.#conditions,
    );
  }

  async run(): Promise<TickReport> {
    const state = await this.#parts.ledger.state();
    if (state.paused) return this.#report('paused', state);
    this.#conditions.know(state.conditions);
    await this.#conditions.tellOwed();
    if (isBackingOff(state, this.#parts)) return this.#backingOff(state);
    try {
      return await this.#story(state);
    } catch (error) {
      if (isRefusal(error)) await noteRefusal(state, this.#parts);
      await this.#conditions.failed(error);
      if (this.#holdsLease) await this.#breakOff();
      throw error;
    }
  }

  /** The partner is left alone; what is owed already goes out all the same. */
  async #backingOff(state: State): Promise<TickReport> {
    if (!this.#isOwing(state) || (await this.#takeLease()) === undefined)
      return this.#report('backing-off', state);
    return this.#finish('backing-off', state);
  }

  async #story(before: State): Promise<TickReport> {
    let state = before;
    if (this.#isOwing(state) || state.baseline.status !== 'completed') {
      const leased = await this.#takeLease();
      if (leased === undefined) return this.#report('busy', state);
      state = leased;
      if (this.#limit.wasReached) return this.#finish('completed', state);
    }

    let pulse = await this.#parts.partner.pulse(this.#limit.deadline);
    this.#quarantine.add(pulse.quarantined);
    if (state.backOff !== undefined) await this.#parts.ledger.backOff(undefined);
    await this.#conditions.answered();

    if (state.baseline.status !== 'completed') return this.#readBaseline(state, pulse);
    if (this.#isQuiet(state, pulse)) return this.#finish('completed', state);

    if (!this.#holdsLease) {
      const leased = await this.#takeLease();
      if (leased === undefined) return this.#report('busy', state);
      // Another tick was at work since: what the pulse showed may be older than what it committed.
      if (leased.heartbeat !== state.heartbeat || leased.dirtySince !== undefined)
        pulse = await this.#parts.partner.pulse(this.#limit.deadline);
      state = leased;
    }
    await this.#look(state, pulse);
    return this.#finish('completed', state);
  }

  /** Whether an earlier tick may have left something that is to be delivered now. */
  #isOwing(state: State): boolean {
    return state.dirtySince !== undefined || isDigestDue(state, this.#parts);
  }

  /** Nothing has changed that a pulse can see, no audit is due, and nothing is to be reported. */
  #isQuiet(state: State, pulse: PulseRead): boolean {
    return (
      pulse.count === state.expected + state.unexplained &&
      pulseDigest(pulse, state.salt) === state.pulseDigest &&
      !this.#isMoreToRead(state) &&
      this.#quarantine.unreported(state).length === 0
    );
  }

  /** The changes that the page shows; then, if they are not all, the search for the others; then audits. */
  async #look(state: State, pulse: PulseRead): Promise<void> {
    const { ledger, partner } = this.#parts;
    const expected = state.expected + state.unexplained;
    let { verdict, changes } = await this.#judge(pulse, pulse.assessments, state, expected);
    if (verdict === 'elsewhere' && isOneDay(pulse)) {
      const tail = await this.#limit.ask((deadline) => partner.tail(pulse, deadline));
      if (tail !== 'late') {
        const seen = [...pulse.assessments, ...tail.assessments];
        ({ verdict, changes } = await this.#judge(tail, seen, state, expected));
      }
    }
    const { guard } = this.#announcement;
    const { isCollapsed, before, changes: learned } = judgeTotal(pulse.count, state);
    Object.assign(this.#learned, learned);
    await this.#conditions.collapsed(isCollapsed, before, pulse.count);
    guard.recall(state.flood);
    if (learned.collapsedFrom === 0) guard.endCollapse();
    // What comes back after a collapse is no news, and what does not is held as doubtful anyway.
    const { collapsedFrom } = state;
    const surplus = pulse.count - (collapsedFrom ?? expected);
    guard.expect(isCollapsed ? 0 : collapsedFrom === undefined ? surplus : Math.max(0, surplus));

    const done = await this.#announcement.announce(changes, { found: { in: 'page' } });
    const deltas = countDeltas(done);
    await ledger.addToDays(deltas);
    this.#learned.expected = state.expected + sum(deltas.values());

    const pageIsAll = verdict !== 'elsewhere';
    let isAllFound = pageIsAll;
    if (!pageIsAll || this.#isMoreToRead(state))
      isAllFound = await this.#search(state, pulse, { pageIsAll, infersRemovals: !isCollapsed });
    const flood = guard.memory(isAllFound && !this.#limit.wasReached);
    if (!isDeepStrictEqual(flood, state.flood)) this.#learned.flood = flood;
    if (this.#announcement.failures === 0 && !this.#limit.wasReached)
      this.#learned.pulseDigest = pulseDigest(pulse, state.salt);
  }

  async #judge({ count }: Pulse, seen: readonly Assessment[], state: State, expected: number) {
    const known = await this.#parts.ledger.known(seen.map(({ id }) => id));
    const changes = compare(seen, known, state.salt);
    const unknown = changes.filter(({ kind }) => kind !== 'updated').length;
    return { changes, verdict: judge(count, expected, unknown) };
  }

  /**
   * Locates and examines what differs, and proves again what was proven longest ago.
   * @returns whether everything that differs was found and committed
   */
  async #search(
    state: State,
    pulse: PulseRead,
    { pageIsAll, infersRemovals }: { pageIsAll: boolean; infersRemovals: boolean },
  ): Promise<boolean> {
    const { ledger, settings } = this.#parts;
    const { years } = await ledger.state();
    const examination = new Examination(
      {
        parts: this.#parts,
        announcement: this.#announcement,
        limit: this.#limit,
        salt: state.salt,
        infersRemovals,
        canaries: pulse.assessments.slice(0, 2).map(({ id }) => id),
      },
      new Calendar(await ledger.calendar(years), daysIn(this.#window)),
      state.bookmark,
    );
    const search = new Search(this.#parts, this.#window, this.#limit, examination);
    const isAllLocated = pageIsAll || (await search.differences(pulse.count));
    if (examination.bookmark) await search.resume(examination.bookmark);
    else if (this.#auditIsDue(state))
      this.#saveRequests(await search.audit(settings.audit.requests));

    const { calendar } = examination;
    this.#proofs = proofsSince(this.#began, calendar);
    this.#examined = examination.examined;
    this.#quarantine.add(examination.quarantined);
    this.#learnCalendar(calendar);
    if (state.baseline.isNoticeOwed && (await tellOfCompletion(this.#parts, calendar)))
      this.#learned.baseline = { ...state.baseline, isNoticeOwed: false };
    const isMended = await this.#conditions.examined(examination, this.#quarantine.size);
    if (isMended && state.reported.length > 0) this.#learned.reported = [];
    if (examination.bookmark !== state.bookmark)
      this.#learned.bookmark = examination.bookmark ?? null;
    const isAllFound = isAllLocated && !examination.isUnfinished;
    if (isAllFound) this.#learned.unexplained = pulse.count - calendar.total;
    return isAllFound;
  }

  #learnCalendar(calendar: Calendar): void {
    const recent = calendar.positionOf(this.#window.from.toString());
    const due = auditsDue(calendar, recent, this.#parts.settings.audit);
    this.#learned.expected = calendar.total;
    this.#learned.recentAuditAt = due.recentAt;
    this.#learned.historyAuditAt = due.historyAt;
  }

  /** @param overspent requests by which the audits went over their budget: later ticks save them */
  #saveRequests(overspent: number): void {
    const { clock, settings } = this.#parts;
    if (overspent === 0) return;
    const minutes = Math.ceil(overspent / Math.max(1, settings.audit.requests));
    this.#learned.auditsFrom = clock.now().epochMilliseconds + minutes * 60_000;
  }

  #isMoreToRead(state: State): boolean {
    return state.bookmark !== undefined || this.#auditIsDue(state);
  }

  #auditIsDue({ auditsFrom, recentAuditAt, historyAuditAt }: State): boolean {
    const dueAt = Math.max(auditsFrom, Math.min(recentAuditAt, historyAuditAt));
    return this.#parts.clock.now().epochMilliseconds >= dueAt;
  }

  async #readBaseline(state: State, pulse: PulseRead): Promise<TickReport> {
    const progress = await readBaseline(
      {
        parts: this.#parts,
        announcement: this.#announcement,
        limit: this.#limit,
        window: this.#window,
        state,
      },
      pulse,
    );
    this.#recorded = progress.recorded;
    this.#quarantine.add(progress.quarantined);
    this.#learned.baseline = progress.baseline;
    const { calendar } = progress;
    if (calendar !== undefined) {
      this.#learnCalendar(calendar);
      // Whatever has changed since this pulse shows in the next one, or in its count.
      this.#learned.pulseDigest = pulseDigest(pulse, state.salt);
    }
    return this.#finish('baseline', state);
  }

  /** The lease, and with it the duty to deliver what an earlier tick left behind. */
  async #takeLease(): Promise<State | undefined> {
    const { ledger, clock } = this.#parts;
    const state = await ledger.takeLease(this.#lease, clock.now());
    if (state === undefined) return undefined;
    this.#holdsLease = true;
    this.#inherited = state.dirtySince;
    this.#conditions.know(state.conditions);
    await this.#delivery.inherit(state);
    return state;
  }

  /** What subscribers have been sent is not sent again only because the partner has failed since. */
  async #breakOff(): Promise<void> {
    try {
      await this.#delivery.tellPeople();
    } catch (error) {
      this.#parts.journal.warn('digest not sent', { error });
    }
    await this.#giveBackLease();
  }

  /** `dirty` stays, so that the next tick, which need not wait for the lease to run out, cleans up. */
  async #giveBackLease(): Promise<void> {
    const { ledger, journal } = this.#parts;
    try {
      await ledger.giveBackLease(this.#lease);
    } catch (error) {
      journal.warn('lease not given back', { error });
    }
  }

  async #finish(outcome: TickReport['outcome'], state: State): Promise<TickReport> {
    const { ledger, clock } = this.#parts;
    const now = clock.now();
    const reported = await this.#quarantine.report(state);
    if (reported !== undefined) this.#learned.reported = reported;
    if (!this.#holdsLease) await ledger.completeQuietly(now);
    else {
      await this.#delivery.tellPeople();
      const { tally } = this.#announcement;
      await this.#conditions.waiting({ ...this.#delivery.tally, held: tally.held });
      const today = tallied(state.today, this.#window.today.toString(), tally);
      const kept = await ledger.complete(this.#lease, now, {
        ...this.#learned,
        ...(today && { today }),
        ...this.#delivery.changes,
        ...this.#debt(now),
      });
      this.#holdsLease = false;
      if (!kept) this.#parts.journal.warn('lease lost', { owner: this.#lease.owner });
    }
    return this.#report(outcome, state);
  }

  /**
   * Whether some outbox may owe an event: one was refused or left for the next tick, a commit has an
   * unknown outcome, or a crash is so recent that the index of undelivered events may not show it.
   */
  #debt(now: Temporal.Instant): Pick<StateChanges, 'dirty' | 'dirtySince'> {
    const { tally, failures } = this.#announcement;
    const { undelivered } = this.#delivery.tally;
    const isOwn = undelivered > 0 || tally.conflicts > 0 || failures > 0 || this.#limit.wasReached;
    if (isOwn) return { dirty: true };
    const since = this.#inherited;
    if (since === undefined || now.since(since).total('minutes') >= indexLagMinutes)
      return { dirty: false };
    return { dirty: true, dirtySince: since };
  }

  #report(outcome: TickReport['outcome'], state: State): TickReport {
    return {
      integration: this.#parts.settings.name,
      outcome,
      ...this.#announcement.tally,
      ...this.#delivery.tally,
      recorded: this.#recorded,
      quarantined: this.#quarantine.size,
      examined: this.#examined,
      proofs: this.#proofs,
      conditions: this.#conditions.lasting,
      unexplained: this.#learned.unexplained ?? state.unexplained,
      collapsed: (this.#learned.collapsedFrom ?? state.collapsedFrom ?? 0) > 0,
      failed: this.#announcement.failures,
      cutShort: this.#limit.wasReached,
    };
  }
}

function proofsSince(began: Temporal.Instant, calendar: Calendar): TickReport['proofs'] {
  const proofs: { -readonly [Kind in keyof TickReport['proofs']]: number } = {};
  for (const { readAt, proof } of calendar.days.map((day) => calendar.entry(day)))
    if (readAt >= began.epochMilliseconds)
      proofs[proof?.kind ?? 'none'] = (proofs[proof?.kind ?? 'none'] ?? 0) + 1;
  return proofs;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
