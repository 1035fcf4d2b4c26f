import type { FanOutLedger } from '../../lambda/fan-out/parts.ts';
import type { PlannedRange, RangeProgress } from '../../lambda/ports/planned-range.ts';
import type { Lease } from '../../lambda/ports/state.ts';
import type { MemoryLedger } from './memory-ledger.ts';
import { once } from './once.ts';

const notBegun: RangeProgress = { isDone: false, recorded: 0 };
const keyOf = ({ begunAt, to }: PlannedRange) => `${begunAt}/${to}`;

/** The items of a fan-out, beside a ledger in memory. */
export class MemoryFanOutLedger implements FanOutLedger {
  readonly #ledger: MemoryLedger;
  readonly #plans = new Map<number, readonly PlannedRange[]>();
  readonly #progress = new Map<string, RangeProgress>();
  readonly #leases = new Map<string, Lease>();

  constructor(ledger: MemoryLedger) {
    this.#ledger = ledger;
  }

  async plan(begunAt: number): Promise<readonly PlannedRange[] | undefined> {
    return this.#plans.get(begunAt);
  }

  async keepPlan(begunAt: number, ranges: readonly PlannedRange[]) {
    return once(this.#plans, begunAt, () => ranges);
  }

  async progressOf(ranges: readonly PlannedRange[]): Promise<readonly RangeProgress[]> {
    return ranges.map((range) => this.#progress.get(keyOf(range)) ?? notBegun);
  }

  async takeRange(...[range, lease, now]: Parameters<FanOutLedger['takeRange']>) {
    const key = keyOf(range);
    const other = this.#leases.get(key);
    const isOver = (other?.until.epochMilliseconds ?? 0) < now.epochMilliseconds;
    if (other !== undefined && other.owner !== lease.owner && !isOver) return undefined;
    this.#leases.set(key, lease);
    return this.#progress.get(key) ?? notBegun;
  }

  async keepProgress(range: PlannedRange, lease: Lease, progress: RangeProgress): Promise<boolean> {
    if (!this.#isHeld(range, lease)) return false;
    const { bookmark: _, ...before } = this.#progress.get(keyOf(range)) ?? notBegun;
    this.#progress.set(keyOf(range), { ...before, ...progress });
    return true;
  }

  async giveBackRange(range: PlannedRange, lease: Lease): Promise<void> {
    if (this.#isHeld(range, lease)) this.#leases.delete(keyOf(range));
  }

  async recordNew(...[sightings, now]: Parameters<FanOutLedger['recordNew']>) {
    const unknown = sightings.filter(({ assessment: { id } }) => !this.#ledger.items.has(id));
    await this.#ledger.recordSilently(unknown, now);
    return unknown;
  }

  #isHeld(range: PlannedRange, { owner }: Lease): boolean {
    return this.#leases.get(keyOf(range))?.owner === owner;
  }
}
