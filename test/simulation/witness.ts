import type { Baseline } from '../../lambda/decisions/baseline.ts';
import type { Certification, Change, Sighting } from '../../lambda/decisions/compare.ts';
import { type DayRange, isWithin } from '../../lambda/decisions/days.ts';
import type { Ledger } from '../../lambda/ports/ledger.ts';
import type { PartnerReader } from '../../lambda/ports/partner-reader.ts';
import { replacedIn } from '../scaffold/ports.ts';
import { Part } from './part.ts';
import type { Invocation } from './passage.ts';
import { stampOf } from './world.ts';

/** The number that may be withdrawn within a day without ops (docs/detection.md), in worlds of this size. */
const fewOf = (known: number) => Math.min(25, Math.max(2, Math.floor(known / 5)));
const oneHourMs = 3_600_000;
const oneDayMs = 24 * oneHourMs;

/** A read of days: the world's moment at its beginning, and its tick. */
interface WatchedRead {
  readonly moment: number;
  readonly to: Invocation;
}

/** Sees the requests and writes of ticks, and compares them with the truth of that moment. */
export class Witness extends Part {
  /** Each committed and then replaced sight of each record, with its time. */
  readonly #replaced = new Map<number, Map<number, number>>();
  /** The newest committed sight of each record. */
  readonly #sights = new Map<number, number>();
  /** The read of days that last showed a record. */
  readonly #shownBy = new Map<number, WatchedRead>();
  /** Each read of days, in order. */
  readonly #reads: { readonly range: DayRange; readonly isCutOff: boolean }[] = [];
  readonly #lastRead = new WeakMap<Invocation, WatchedRead>();
  /** The number of committed updates. */
  readonly #updates = new Map<number, number>();
  /** The times of withdrawals without an acceptance by ops. */
  readonly #withdrawn: number[] = [];
  /** The times when the gate has let changes pass. */
  readonly #announced: Record<Sighting['kind'], number[]> = {
    created: [],
    updated: [],
    restored: [],
  };
  /** Ops have accepted any number of withdrawals. */
  isAccepted = false;
  /**
   * The time since which the state has the recorded start day, and that day: docs/detection.md, The
   * baseline.
   */
  startedAt = Number.POSITIVE_INFINITY;
  startDay = '';
  completedAt = Number.POSITIVE_INFINITY;

  /** The partner, with checks of its proven reads. */
  partner(partner: PartnerReader, invocation: Invocation): PartnerReader {
    const { world, host, note } = this.life;
    return {
      ...partner,
      prove: async (range, deadline, bookmark) => {
        const since = world.moment;
        const { oldestAnswerMs } = host;
        const before = [...world.readable(range)].filter((id) =>
          world.hasStood(id, oldestAnswerMs),
        );
        host.lacks(world.gone.keys());
        const read = await partner.prove(range, deadline, bookmark);
        // The rest of a read that was cut off earlier proves nothing.
        this.#reads.push({ range, isCutOff: read.isCutOff || bookmark !== undefined });
        invocation.longestRead = Math.max(invocation.longestRead, read.requests);
        if (bookmark) note('resumed read');
        note(read.proof ? `read by ${read.proof}` : 'unproven read');
        const seen = new Set(read.assessments.map(({ id }) => id));
        const shown = { moment: since, to: invocation };
        for (const id of seen) this.#shownBy.set(id, shown);
        this.#lastRead.set(invocation, shown);
        if (read.proof) this.#seesAll(seen, before, world.readable(range), since);
        return read;
      },
    };
  }

  /** The last read of a day was cut off, or began where an earlier one was. */
  wasCutOff(day: string): boolean {
    return this.#reads.findLast(({ range }) => isWithin(day, range))?.isCutOff === true;
  }

  /** A failed tick need not have committed the rows that it was shown. */
  hasFailed(invocation: Invocation): void {
    this.#forgetShown(({ to }) => to === invocation);
  }

  /** Nor need a tick whose time was over commit its last read: it reads nothing more then. */
  wasCutShort(invocation: Invocation): void {
    const last = this.#lastRead.get(invocation);
    this.#forgetShown((read) => read === last);
  }

  #forgetShown(isForgotten: (read: WatchedRead) => boolean): void {
    for (const [id, read] of this.#shownBy) if (isForgotten(read)) this.#shownBy.delete(id);
  }

  /** A proven read may lack only records that disappeared or changed during it. */
  #seesAll(
    seen: ReadonlySet<number>,
    before: readonly number[],
    after: ReadonlySet<number>,
    since: number,
  ): void {
    const { world, findings } = this.life;
    for (const id of before) {
      const stood = after.has(id) && (world.touchedAt.get(id) ?? 0) <= since;
      if (stood && !seen.has(id)) findings.push(`a proven read lost ${id}`);
    }
  }

  /**
   * A tick's ledger, with checks of withdrawals, of the gate, of the order and of the baseline's
   * progress.
   */
  ledger(ledger: Ledger): Ledger {
    const { world, note, findings } = this.life;
    const watched: Pick<Ledger, 'commit' | 'saveState' | 'takeLease'> = {
      commit: async (change, event, now, destiny) => {
        // It was absent at the second look, in this tick or one that overlaps it.
        if (change.kind === 'withdrawn' && !this.#isExcused(change.before))
          findings.push(`false withdrawal of ${change.before.id}`);
        const owed = await ledger.commit(change, event, now, destiny);
        if (owed === undefined) {
          note('conflict');
          return undefined;
        }
        if (change.kind === 'withdrawn') this.#gone(now.epochMilliseconds);
        else this.#committed(change, now.epochMilliseconds);
        const isLetGo = destiny === 'pending' && typeof owed === 'object' && owed.behind !== 'held';
        if (isLetGo) this.#letGo(change, now.epochMilliseconds);
        return owed;
      },
      saveState: async (changes, lease) => {
        const isSaved = await ledger.saveState(changes, lease);
        const isEnd = 'heartbeat' in changes;
        if (isSaved && changes.baseline && !isEnd) this.#started(changes.baseline);
        if (isEnd && isSaved && changes.baseline?.status === 'completed')
          this.completedAt = Math.min(this.completedAt, world.moment);
        return isSaved;
      },
      takeLease: async (lease, now) => {
        const state = await ledger.takeLease(lease, now);
        if (state === undefined) note('lease held by another');
        return state;
      },
    };
    return replacedIn(ledger, watched);
  }

  /** Its id is unknown, and its new day was not read yet: docs/detection.md, Limits. */
  #isExcused({ id, day }: Certification): boolean {
    const { world, host, partner, note } = this.life;
    if (host.wasTrulyAbsent(id)) return true;
    const hasMoved = world.entries.get(id)?.assessment.certified_on !== day;
    const wasShown = (this.#shownBy.get(id)?.moment ?? -1) >= (world.touchedAt.get(id) ?? 0);
    const isExcused = partner.singleRecordsBroken && hasMoved && !wasShown;
    if (isExcused) note('withdrawn where it was, unread where it is');
    return isExcused;
  }

  /** Where an id is there twice, one update is false, and its end is one change more: decision 32. */
  #updated(id: number): void {
    const { world, plan, findings, isLagging } = this.life;
    const updates = 1 + (this.#updates.get(id) ?? 0);
    this.#updates.set(id, updates);
    if (plan.twins > 0 && !isLagging && updates > 2 + (world.touches.get(id) ?? 0))
      findings.push(`${id} was updated ${updates} times, and changed less often`);
  }

  /** By any tick, and even if the tick died then. */
  #letGo(change: Change, nowMs: number): void {
    if (change.kind === 'withdrawn') return;
    const { settings, findings } = this.life;
    const times = this.#announced[change.kind];
    times.push(nowMs);
    if (times.filter((at) => nowMs - at < oneHourMs).length > settings.holdAbove)
      findings.push(`a flood is announced, ${change.id} in it`);
  }

  #gone(nowMs: number): void {
    if (this.isAccepted) return;
    this.#withdrawn.push(nowMs);
    const today = this.#withdrawn.filter((at) => nowMs - at < oneDayMs).length;
    // All births so far: at least as many as were known at any time of the day. Returned records
    // count twice.
    if (today > fewOf(this.life.world.births.size + today - 1))
      this.life.findings.push(`${today} went within a day`);
  }

  #started({ before, startDay }: Baseline): void {
    if (before === undefined || startDay === undefined || this.startDay !== '') return;
    this.startedAt = this.life.world.moment;
    this.startDay = startDay.toString();
  }

  /**
   * A sight that was not current within `withdrawAfter` is believed, also from a replica:
   * docs/detection.md.
   */
  #mayBeOlder(id: number, version: number, nowMs: number): boolean {
    const { plan, host, settings } = this.life;
    // Ticks that continue after their time may commit sights that became old meanwhile.
    if (plan.freeze > 0) return true;
    const replacedAt = this.#replaced.get(id)?.get(version) ?? 0;
    return host.oldestAnswerMs > 0 && nowMs - replacedAt >= settings.withdrawAfterMs;
  }

  #committed({ id, kind, assessment: sight }: Sighting, nowMs: number): void {
    if (kind === 'updated') this.#updated(id);
    const { findings, world } = this.life;
    const version = stampOf(sight);
    const current = this.#sights.get(id);
    if (version === undefined) findings.push(`a sight of ${id} has lost its stamp`);
    else if (version < (current ?? 0) && !this.#mayBeOlder(id, version, nowMs))
      findings.push(`an older sight of ${id} was committed over a newer one`);
    this.#sights.set(id, version ?? 0);
    const replaced = this.#replaced.get(id) ?? new Map<number, number>();
    if (current !== undefined) this.#replaced.set(id, replaced.set(current, nowMs));
    world.inFocus.push(id);
    if (world.inFocus.length > 5) world.inFocus.shift();
  }
}
