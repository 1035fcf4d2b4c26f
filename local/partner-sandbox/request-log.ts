import type { Fault } from './faults.ts';

/** One request to the API as the server saw it; tokens and credentials are never in it. */
export interface LoggedRequest {
  /** Instant, ISO 8601, by the sandbox's clock. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  /** The query string, decoded, in the order sent. */
  readonly query: readonly (readonly [string, string])[];
  /** Status of the answer; 0 when the connection was reset instead. */
  readonly status: number;
  readonly fault: Fault['kind'] | undefined;
}

const capacity = 100_000;

/** The latest requests; a soak test's older ones are let go. */
export class RequestLog {
  #entries: LoggedRequest[] = [];

  get entries(): readonly LoggedRequest[] {
    return this.#entries;
  }

  add(entry: LoggedRequest): void {
    this.#entries.push(entry);
    if (this.#entries.length > capacity * 1.1) this.#entries = this.#entries.slice(-capacity);
  }

  clear(): void {
    this.#entries = [];
  }
}
