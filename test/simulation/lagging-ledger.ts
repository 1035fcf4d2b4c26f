import type { Certification } from '../../lambda/decisions/compare.ts';
import type { DayCertification, Ledger, WaitingPage } from '../../lambda/ports/ledger.ts';
import { filedUnder, type LedgerRules, MemoryLedger } from '../scaffold/memory-ledger.ts';
import type { Life } from './life.ts';
import { Random } from './random.ts';

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
  readonly #life: Life;
  readonly #random: Random;
  readonly #index = new Map<number, IndexEntry[]>();
  /** All certifications that were ever of a day. */
  readonly #everOf = new Map<string, Set<number>>();
  /** The longest lag of an index, in milliseconds. */
  lagMs = 0;

  constructor(life: Life, rules: LedgerRules) {
    super(rules);
    this.#life = life;
    this.#random = Random.of(life.seed, 'ledger');
  }

  override async recordSilently(...recorded: Parameters<Ledger['recordSilently']>) {
    const number = await super.recordSilently(...recorded);
    for (const { assessment } of recorded[0]) this.#change(assessment.id);
    return number;
  }

  override async commit(...committed: Parameters<Ledger['commit']>) {
    const owed = await super.commit(...committed);
    if (owed !== undefined) this.#change(committed[0].id);
    return owed;
  }

  override async settle(...settled: Parameters<Ledger['settle']>): Promise<void> {
    await super.settle(...settled);
    for (const { certificationId } of settled[0]) this.#change(certificationId);
  }

  override async decide(...asked: Parameters<Ledger['decide']>) {
    const decided = await super.decide(...asked);
    this.#change(asked[0]);
    return decided;
  }

  override async knownOfDay(day: string): Promise<ReadonlyMap<number, DayCertification>> {
    const shown = new Map<number, DayCertification>();
    let isStale = false;
    for (const id of this.#everOf.get(day) ?? []) {
      const entry = this.#visible(id);
      if (entry?.day === day) shown.set(id, entry.shown);
      isStale ||= !isSame(shown.get(id), this.#ofDay(id, day));
    }
    if (isStale) this.#life.note('stale index by day');
    return shown;
  }

  /** The keys as the index has them, then the items as they are. */
  override async *leftovers(owing: 'event' | 'digest'): AsyncGenerator<WaitingPage> {
    const place = owing === 'event' ? 'pending' : 'digest';
    const ids = [...this.#index.keys()].filter((id) => this.#visible(id)?.filed === place);
    for await (const page of super.leftovers(owing)) {
      const { owed } = page;
      const shown = owed.filter(({ certificationId }) => ids.includes(certificationId));
      if (shown.length < owed.length) this.#life.note('stale index of the undelivered');
      yield { ...page, owed: shown };
    }
  }

  #change(id: number): void {
    const item = this.items.get(id);
    if (item === undefined) return;
    const { day, fingerprint, presence } = item.certification;
    const earlier = this.#index.get(id) ?? [];
    const lag = this.#random.chance(0.2) ? this.lagMs : Math.min(this.lagMs, 1_000);
    const now = this.#life.timeline.nowMs;
    const soonest = now + Math.floor(lag * this.#random.next());
    const visibleAt = Math.max(earlier.at(-1)?.visibleAt ?? 0, soonest);
    // Of the visible entries, only the last still shows.
    const past = earlier.findLastIndex((entry) => entry.visibleAt <= now);
    this.#everOf.set(day, (this.#everOf.get(day) ?? new Set()).add(id));
    const shown = { fingerprint: fingerprint.whole, presence };
    const entry = { visibleAt, day, shown, filed: filedUnder(item) };
    this.#index.set(id, [...earlier.slice(Math.max(0, past)), entry]);
  }

  #ofDay(id: number, day: string): Certification | undefined {
    const certification = this.items.get(id)?.certification;
    return certification?.day === day ? certification : undefined;
  }

  #visible(id: number): IndexEntry | undefined {
    const { nowMs } = this.#life.timeline;
    return this.#index.get(id)?.findLast(({ visibleAt }) => visibleAt <= nowMs);
  }
}

function isSame(shown: DayCertification | undefined, truth: Certification | undefined): boolean {
  return shown?.fingerprint === truth?.fingerprint.whole && shown?.presence === truth?.presence;
}
