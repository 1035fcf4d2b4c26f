import type { Temporal } from 'temporal-polyfill';
import type { Sighting } from '../../lambda/detection/compare.ts';
import type { FanOutLedger } from '../../lambda/fan-out/parts.ts';
import type { Lease } from '../../lambda/ports/state.ts';
import type { Stretch, StretchProgress } from '../../lambda/ports/stretch.ts';
import type { MemoryLedger } from './memory-ledger.ts';

const notBegun: StretchProgress = { isDone: false, recorded: 0 };
const keyOf = ({ begunAt, to }: Stretch) => `${begunAt}/${to}`;

/** What a fan-out keeps for itself, beside a ledger in memory. */
export class MemoryFanOutLedger implements FanOutLedger {
  readonly #ledger: MemoryLedger;
  readonly #plans = new Map<number, readonly Stretch[]>();
  readonly #progress = new Map<string, StretchProgress>();
  readonly #leases = new Map<string, Lease>();

  constructor(ledger: MemoryLedger) {
    this.#ledger = ledger;
  }

  async plan(begunAt: number): Promise<readonly Stretch[] | undefined> {
    return this.#plans.get(begunAt);
  }

  async keepPlan(begunAt: number, stretches: readonly Stretch[]): Promise<readonly Stretch[]> {
    const kept = this.#plans.get(begunAt) ?? stretches;
    this.#plans.set(begunAt, kept);
    return kept;
  }

  async progressOf(stretches: readonly Stretch[]): Promise<readonly StretchProgress[]> {
    return stretches.map((stretch) => this.#progress.get(keyOf(stretch)) ?? notBegun);
  }

  async takeStretch(
    stretch: Stretch,
    lease: Lease,
    now: Temporal.Instant,
  ): Promise<StretchProgress | undefined> {
    const key = keyOf(stretch);
    const other = this.#leases.get(key);
    const isOver = (other?.until.epochMilliseconds ?? 0) < now.epochMilliseconds;
    if (other !== undefined && other.owner !== lease.owner && !isOver) return undefined;
    this.#leases.set(key, lease);
    return this.#progress.get(key) ?? notBegun;
  }

  async keepProgress(stretch: Stretch, lease: Lease, progress: StretchProgress): Promise<boolean> {
    if (!this.#isHeld(stretch, lease)) return false;
    const { bookmark: _, ...before } = this.#progress.get(keyOf(stretch)) ?? notBegun;
    this.#progress.set(keyOf(stretch), { ...before, ...progress });
    return true;
  }

  async giveBackStretch(stretch: Stretch, lease: Lease): Promise<void> {
    if (this.#isHeld(stretch, lease)) this.#leases.delete(keyOf(stretch));
  }

  async recordNew(
    sightings: readonly Sighting[],
    now: Temporal.Instant,
  ): Promise<readonly Sighting[]> {
    const unknown = sightings.filter(({ assessment: { id } }) => !this.#ledger.items.has(id));
    await this.#ledger.recordSilently(unknown, now);
    return unknown;
  }

  #isHeld(stretch: Stretch, { owner }: Lease): boolean {
    return this.#leases.get(keyOf(stretch))?.owner === owner;
  }
}
