/** The requests that a host has admitted within the last minute. */
export class RequestsOfMinute {
  /** Epoch milliseconds, oldest first. */
  #times: number[] = [];

  /** Counts a request, unless the last minute has had as many. */
  admits(now: number, most: number): boolean {
    if (most === Number.POSITIVE_INFINITY) return true;
    this.#times = this.#times.filter((at) => now - at < 60_000);
    if (this.#times.length >= most) return false;
    this.#times.push(now);
    return true;
  }
}
