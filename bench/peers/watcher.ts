import type { PartnerReady } from '../child.ts';
import type { Heard } from '../subscriber.ts';
import type { Ended } from './measured-process.ts';

export const contenders = [
  'ours',
  'dlt, look-back',
  'dlt, full',
  'Airbyte CDK, look-back',
  'Airbyte CDK, full',
  'Singer, look-back',
  'Singer, full',
] as const;
export type Contender = (typeof contenders)[number];

/** One poll that is under way. */
export interface Poll {
  readonly ended: Promise<Ended>;
  /** @returns whether it was still at work */
  kill(): boolean;
}

/** A contender that watches one world, by a process a poll. */
export interface Watcher {
  /** Everything that is there becomes known; nothing is measured. */
  start(): Promise<void>;
  poll(afterMinutes: number): Promise<Poll>;
  /** Whether the first sync needs another poll. */
  isBehind(): Promise<boolean>;
  /** News of a consumer since the last call. */
  heard(): Promise<readonly Heard[]>;
  /** Which of these a consumer can know of. */
  known(ids: readonly number[]): Promise<ReadonlySet<number>>;
  /** Changes that were found and are told to nobody until people, who know of them, have decided. */
  waiting(): Promise<number>;
  close(): Promise<void>;
}

/** Makes a contender watch a world. */
export type Enter = (partner: PartnerReady, world: string) => Promise<Watcher>;
