import type { Pace } from '../detection/pace.ts';

/** Of the requests to one host. */
export interface RequestPace {
  /** Requests a minute, at most: as set, or the share of a task. */
  perMinute: number;
  /** Each request leaves another one. A tick begins with what the last one has kept, and keeps it at its end. */
  value: Pace;
}
