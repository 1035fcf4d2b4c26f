import type { PartnerReady } from '../child.ts';
import type { Heard } from '../subscriber.ts';
import type { Ended } from './measured-process.ts';

/** A running poll. */
export interface Poll {
  readonly ended: Promise<Ended>;
  /** @returns whether the poll was still running */
  kill(): boolean;
}

/** A contender that watches one world, with a new process for each poll. */
export interface Watcher {
  /** Takes all present records as known. This step is not measured. */
  start(): Promise<void>;
  poll(afterMinutes: number): Promise<Poll>;
  /** Whether the first sync needs another poll. */
  isBehind(): Promise<boolean>;
  /** News of a consumer since the last call. */
  heard(): Promise<readonly Heard[]>;
  /** The ids that a consumer can know. */
  known(ids: readonly number[]): Promise<ReadonlySet<number>>;
  /** The number of changes that were found, but wait for a decision of people. */
  waiting(): Promise<number>;
  close(): Promise<void>;
}

/** Makes a contender watch a world. */
export type Enter = (partner: PartnerReady, world: string) => Promise<Watcher>;
