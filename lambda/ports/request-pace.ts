import type { Pace } from '../detection/pace.ts';

/** What a tick keeps of the pace of its requests, of which it makes none by itself. */
export interface RequestPace {
  /** Goes on where an earlier tick has stopped; `undefined`: nothing of it matters any more. */
  resume(pace: Pace | undefined): void;
  /** What the next tick has to know; `undefined`: nothing. */
  remembered(): Pace | undefined;
  /** Whether people are to be told that the host allows too few requests; `undefined`: as before. */
  isTooSlow(): boolean | undefined;
}
