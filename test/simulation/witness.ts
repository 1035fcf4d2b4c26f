import type { Certification, Change, Sighting } from '../../lambda/detection/compare.ts';
import type { Assessment } from '../../lambda/events/assessment.ts';
import type { Ledger } from '../../lambda/ports/ledger.ts';
import type { PartnerReader } from '../../lambda/ports/partner-reader.ts';
import type { Baseline } from '../../lambda/ports/state.ts';
import { tickSettings } from '../scaffold/settings.ts';
import type { Note } from './coverage.ts';
import type { Host } from './host.ts';
import type { Invocation } from './passage.ts';
import { stampOf, type World } from './world.ts';

/** The number that may be withdrawn within a day without ops (docs/detection.md), in worlds of this size. */
const fewOf = (known: number) => Math.min(25, Math.max(2, Math.floor(known / 5)));
const { withdrawAfterMs } = tickSettings();
const oneHourMs = 3_600_000;
const oneDayMs = 24 * oneHourMs;

/** A read of days: the world's moment at its beginning, and its tick. */
interface WatchedRead {
  readonly moment: number;
  readonly to: Invocation;
}

/** Sees the requests and writes of ticks, and compares them with the truth of that moment. */
export class Witness {
  readonly #world: World;
  readonly #host: Host;
  readonly #note: Note;
  readonly #findings: string[];
  /** Each committed and then replaced sight of each record, with its time. */
  readonly #replaced = new Map<number, Map<number, number>>();
  /** The newest committed sight of each record. */
  readonly #sights = new Map<number, number>();
  /** The read of days that last showed a record. */
  readonly #shownBy = new Map<number, WatchedRead>();
  readonly #lastRead = new WeakMap<Invocation, WatchedRead>();
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
  /** Ticks that continue after their time may commit sights that became old meanwhile. */
  mayBeOutlived = false;
  /**
   * The time since which the state has the recorded start day, and that day: docs/detection.md, The
   * baseline.
   */
  startedAt = Number.POSITIVE_INFINITY;
  startDay = '';
  completedAt = Number.POSITIVE_INFINITY;
  /** Whether all reads of the baseline were proven. */
  isBaselineProven = true;

  constructor(world: World, host: Host, note: Note, findings: string[]) {
    this.#world = world;
    this.#host = host;
    this.#note = note;
    this.#findings = findings;
  }

  /** The partner, with checks of its proven reads. */
  partner(partner: PartnerReader, invocation: Invocation): PartnerReader {
    const world = this.#world;
    return {
      ...partner,
      prove: async (range, deadline, bookmark) => {
        const since = world.moment;
        const before = [...world.readable(range)].filter((id) =>
          world.hasStood(id, this.#host.oldestAnswerMs),
        );
        this.#host.lacks(world.gone.keys());
        const read = await partner.prove(range, deadline, bookmark);
        invocation.longestRead = Math.max(invocation.longestRead, read.requests);
        if (bookmark) this.#note('resumed read');
        this.#note(read.proof ? `read by ${read.proof}` : 'unproven read');
        if (!read.proof && this.completedAt === Number.POSITIVE_INFINITY)
          this.isBaselineProven = false;
        const seen = new Set(read.assessments.map(({ id }) => id));
        const shown = { moment: since, to: invocation };
        for (const id of seen) this.#shownBy.set(id, shown);
        this.#lastRead.set(invocation, shown);
        const after = world.readable(range);
        if (read.proof) this.#seesAll(seen, before, after, since);
        return read;
      },
    };
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
    for (const id of before) {
      const stood = after.has(id) && (this.#world.touchedAt.get(id) ?? 0) <= since;
      if (stood && !seen.has(id)) this.#findings.push(`a proven read lost ${id}`);
    }
  }

  /**
   * A tick's ledger, with checks of withdrawals, of the gate, of the order and of the baseline's
   * progress.
   */
  ledger(ledger: Ledger, holdAbove: number): Ledger {
    const watched: Pick<Ledger, 'commit' | 'saveState' | 'takeLease'> = {
      commit: async (change, event, now, destiny) => {
        // It was absent at the second look, in this tick or one that overlaps it.
        if (change.kind === 'withdrawn' && !this.#isExcused(change.before))
          this.#findings.push(`false withdrawal of ${change.before.id}`);
        const owed = await ledger.commit(change, event, now, destiny);
        if (owed === undefined) {
          this.#note('conflict');
          return undefined;
        }
        if (change.kind === 'withdrawn') this.#gone(now.epochMilliseconds);
        else this.#committed(change.id, change.assessment, now.epochMilliseconds);
        const isLetGo = destiny === 'pending' && typeof owed === 'object' && owed.behind !== 'held';
        if (isLetGo) this.#letGo(change, now.epochMilliseconds, holdAbove);
        return owed;
      },
      saveState: async (changes, lease) => {
        const isSaved = await ledger.saveState(changes, lease);
        const isEnd = 'heartbeat' in changes;
        if (isSaved && changes.baseline && !isEnd) this.#started(changes.baseline);
        if (isEnd && isSaved && changes.baseline?.status === 'completed')
          this.completedAt = Math.min(this.completedAt, this.#world.moment);
        return isSaved;
      },
      takeLease: async (lease, now) => {
        const state = await ledger.takeLease(lease, now);
        if (state === undefined) this.#note('lease held by another');
        return state;
      },
    };
    return new Proxy(ledger, {
      get: (target, name) => {
        const method: unknown = Reflect.get(watched, name) ?? Reflect.get(target, name);
        return typeof method === 'function' ? method.bind(target) : method;
      },
    });
  }

  /** Its id is unknown, and its new day was not read yet: docs/detection.md, Limits. */
  #isExcused({ id, day }: Certification): boolean {
    if (this.#host.wasTrulyAbsent(id)) return true;
    const hasMoved = this.#world.entries.get(id)?.assessment.certified_on !== day;
    const wasShown = (this.#shownBy.get(id)?.moment ?? -1) >= (this.#world.touchedAt.get(id) ?? 0);
    const isExcused = this.#host.deniesIds && hasMoved && !wasShown;
    if (isExcused) this.#note('withdrawn where it was, unread where it is');
    return isExcused;
  }

  /** By any tick, and even if the tick died then. */
  #letGo(change: Change, nowMs: number, holdAbove: number): void {
    if (change.kind === 'withdrawn') return;
    const times = this.#announced[change.kind];
    times.push(nowMs);
    if (times.filter((at) => nowMs - at < oneHourMs).length > holdAbove)
      this.#findings.push(`a flood is announced, ${change.id} in it`);
  }

  #gone(nowMs: number): void {
    if (this.isAccepted) return;
    this.#withdrawn.push(nowMs);
    const today = this.#withdrawn.filter((at) => nowMs - at < oneDayMs).length;
    // All births so far: at least as many as were known at any time of the day. Returned records
    // count twice.
    if (today > fewOf(this.#world.births.size + today - 1))
      this.#findings.push(`${today} went within a day`);
  }

  #started({ before, startDay }: Baseline): void {
    if (before === undefined || startDay === undefined || this.startDay !== '') return;
    this.startedAt = this.#world.moment;
    this.startDay = startDay.toString();
  }

  /**
   * A sight that was not current within `withdrawAfter` is believed, also from a replica:
   * docs/detection.md.
   */
  #mayBeOlder(id: number, version: number, nowMs: number): boolean {
    if (this.mayBeOutlived) return true;
    const replacedAt = this.#replaced.get(id)?.get(version) ?? 0;
    return this.#host.oldestAnswerMs > 0 && nowMs - replacedAt >= withdrawAfterMs;
  }

  #committed(id: number, sight: Assessment, nowMs: number): void {
    const version = stampOf(sight);
    const current = this.#sights.get(id);
    if (version === undefined) this.#findings.push(`a sight of ${id} has lost its stamp`);
    else if (version < (current ?? 0) && !this.#mayBeOlder(id, version, nowMs))
      this.#findings.push(`an older sight of ${id} was committed over a newer one`);
    this.#sights.set(id, version ?? 0);
    const replaced = this.#replaced.get(id) ?? new Map<number, number>();
    if (current !== undefined) this.#replaced.set(id, replaced.set(current, nowMs));
    this.#world.inFocus.push(id);
    if (this.#world.inFocus.length > 5) this.#world.inFocus.shift();
  }
}
