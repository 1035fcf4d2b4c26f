import type { Temporal } from 'temporal-polyfill';
import type { Certification, Change, Sighting } from '../../lambda/detection/compare.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import type {
  Committed,
  DayCertification,
  OutboxEntry,
  WaitingPage,
} from '../../lambda/ports/ledger.ts';
import { filedUnder, type LedgerRules, MemoryLedger } from '../scaffold/memory-ledger.ts';
import type { Note } from './coverage.ts';
import type { Random } from './random.ts';
import type { Timeline } from './timeline.ts';

/** A certification as both indexes show it from some moment on. */
interface IndexEntry {
  readonly visibleAt: number;
  readonly day: string;
  readonly shown: DayCertification;
  readonly filed: ReturnType<typeof filedUnder>;
}

/**
 * The ledger with indexes like DynamoDB's. They show each change of an item some time after the
 * item has it, and never before an earlier change of the same item.
 */
export class LaggingLedger extends MemoryLedger {
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #note: Note;
  readonly #index = new Map<number, IndexEntry[]>();
  /** All certifications that were ever of a day. */
  readonly #everOf = new Map<string, Set<number>>();
  /** The longest lag of an index, in milliseconds. */
  lagMs = 0;

  constructor(timeline: Timeline, random: Random, note: Note, rules: LedgerRules) {
    super(rules);
    this.#timeline = timeline;
    this.#random = random;
    this.#note = note;
  }

  override async recordSilently(
    sightings: readonly Sighting[],
    now: Temporal.Instant,
  ): Promise<void> {
    await super.recordSilently(sightings, now);
    for (const { assessment } of sightings) this.#change(assessment.id);
  }

  override async commit(
    change: Change,
    event: CertificationEvent,
    now: Temporal.Instant,
    destiny: 'pending' | 'held',
  ): Promise<Committed | 'undone' | undefined> {
    const owed = await super.commit(change, event, now, destiny);
    if (owed !== undefined) this.#change(change.id);
    return owed;
  }

  override async settle(
    delivered: readonly OutboxEntry[],
    rest: 'nothing' | 'digest',
  ): Promise<void> {
    await super.settle(delivered, rest);
    for (const { certificationId } of delivered) this.#change(certificationId);
  }

  override async knownOfDay(day: string): Promise<ReadonlyMap<number, DayCertification>> {
    const shown = new Map<number, DayCertification>();
    let isStale = false;
    for (const id of this.#everOf.get(day) ?? []) {
      const entry = this.#visible(id);
      if (entry?.day === day) shown.set(id, entry.shown);
      isStale ||= !isSame(shown.get(id), this.#ofDay(id, day));
    }
    if (isStale) this.#note('stale index by day');
    return shown;
  }

  /** The keys as the index has them, then the items as they are. */
  override async *leftovers(owing: 'event' | 'digest'): AsyncGenerator<WaitingPage> {
    const place = owing === 'event' ? 'pending' : 'digest';
    const ids = [...this.#index.keys()].filter((id) => this.#visible(id)?.filed === place);
    for await (const page of super.leftovers(owing)) {
      const { owed } = page;
      const shown = owed.filter(({ certificationId }) => ids.includes(certificationId));
      if (shown.length < owed.length) this.#note('stale index of the undelivered');
      yield { ...page, owed: shown };
    }
  }

  #change(id: number): void {
    const item = this.items.get(id);
    if (item === undefined) return;
    const { day, fingerprint, presence } = item.certification;
    const earlier = this.#index.get(id) ?? [];
    const lag = this.#random.chance(0.2) ? this.lagMs : Math.min(this.lagMs, 1_000);
    const now = this.#timeline.nowMs;
    const visibleAt = Math.max(
      earlier.at(-1)?.visibleAt ?? 0,
      now + Math.floor(lag * this.#random.next()),
    );
    // Of the visible entries, only the last still shows.
    const past = earlier.findLastIndex((entry) => entry.visibleAt <= now);
    this.#everOf.set(day, (this.#everOf.get(day) ?? new Set()).add(id));
    this.#index.set(id, [
      ...earlier.slice(Math.max(0, past)),
      {
        visibleAt,
        day,
        shown: { fingerprint: fingerprint.whole, presence },
        filed: filedUnder(item),
      },
    ]);
  }

  #ofDay(id: number, day: string): Certification | undefined {
    const certification = this.items.get(id)?.certification;
    return certification?.day === day ? certification : undefined;
  }

  #visible(id: number): IndexEntry | undefined {
    return this.#index.get(id)?.findLast(({ visibleAt }) => visibleAt <= this.#timeline.nowMs);
  }
}

function isSame(shown: DayCertification | undefined, truth: Certification | undefined): boolean {
  return shown?.fingerprint === truth?.fingerprint.whole && shown?.presence === truth?.presence;
}
