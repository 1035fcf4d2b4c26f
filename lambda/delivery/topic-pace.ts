/** Requests in flight at once. */
const first = 4;
const most = 8;

/**
 * How fast a topic takes what it is given: half as many requests at once after each throttle, one
 * more after each request that went well. It outlives a tick, as the topic's limits do.
 */
export class TopicPace {
  width = first;
  /** Milliseconds since the epoch: before, nothing is sent. */
  until = 0;
  /** It has accepted something: that an event is invalid is the event's own fault. */
  isTrusted = false;

  slowDown(until: number): void {
    this.width = Math.max(1, Math.floor(this.width / 2));
    this.until = Math.max(this.until, until);
  }

  quicken(): void {
    this.width = Math.min(most, this.width + 1);
  }
}
