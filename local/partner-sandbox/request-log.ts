import type { SandboxFault } from './faults.ts';

/** One request to the API as the server saw it, without tokens and credentials. */
export interface LoggedRequest {
  /** Instant, ISO 8601, by the sandbox's clock. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  /** The query string, decoded, in the sent order. */
  readonly query: readonly (readonly [string, string])[];
  /** The status of the answer; 0 if the connection was reset. */
  readonly status: number;
  readonly fault: SandboxFault['kind'] | undefined;
}

const capacity = 100_000;

/** The latest requests; older ones, as in a soak test, are dropped. */
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
