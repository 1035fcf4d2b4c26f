/** Requests in flight at once: one at first, since a process that dies repeats what is in flight. */
const first = 1;
const most = 8;
/** Rounds of these that went well before there is one more: a process that lives on soon has all. */
const rounds = 4;

/**
 * How fast a topic takes what it is given: half as many requests at once after each throttle, one
 * more after some rounds that went well. It outlives a tick, as the topic's limits do.
 */
export class TopicPace {
  width = first;
  /** Milliseconds since the epoch: before, nothing is sent. */
  until = 0;
  /** It has accepted something: that an event is invalid is the event's own fault. */
  isTrusted = false;
  #wentWell = 0;

  slowDown(until: number): void {
    this.#wentWell = 0;
    this.width = Math.max(1, Math.floor(this.width / 2));
    this.until = Math.max(this.until, until);
  }

  quicken(): void {
    this.#wentWell += 1;
    if (this.#wentWell < rounds * this.width) return;
    this.#wentWell = 0;
    this.width = Math.min(most, this.width + 1);
  }
}
