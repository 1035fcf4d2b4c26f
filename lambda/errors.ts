/**
 * Whose fault it is, which is where it has to be mended.
 *
 * - `record`: one record or one item; all others are as good as ever.
 * - `partner`: the host, or the company behind it.
 * - `ops`: this deployment (settings, stored credentials, a command, a defect of the code).
 * - `aws`: a service of AWS, or the function's rights there.
 */
export const faults = ['record', 'partner', 'ops', 'aws'] as const;

export type Fault = (typeof faults)[number];

/**
 * How much fails with it.
 *
 * - `request`: nothing else, as far as is known: the next request may succeed.
 * - `time`: nothing else: the caller's own time was up.
 * - `pace`: every request of this minute; nobody has failed.
 * - `access`: every request until people mend it; `code` is the name of its condition.
 * - `all`: all of the caller's work.
 */
export type Reach = 'request' | 'time' | 'pace' | 'access' | 'all';

/**
 * The root of every error this project throws on purpose.
 *
 * `message` names the failure, and never contains a credential, a response body or a record's
 * value. Branch on `fault`, `reach` or `code`, never on the text.
 */
export abstract class NotifierError extends Error {
  /** Stable, kebab-case; logs have it. */
  abstract readonly code: string;
  abstract readonly fault: Fault;
  readonly reach: Reach = 'all';
  /** Whether the same attempt, made again later, can succeed without anybody doing anything. */
  abstract readonly retryHelps: boolean;
  /** The next step for ops, as an imperative sentence. */
  abstract readonly whatToDo: string;

  static {
    // Not the class's own name: the bundle is minified. `Error` types it as a property.
    Object.defineProperty(NotifierError.prototype, 'name', {
      configurable: true,
      get(this: Partial<NotifierError>) {
        return nameOf(this.code);
      },
    });
  }
}

/** The class that an error extends: its code, whose fault it is, and whether a retry helps. */
export function errorOf<Code extends string>(code: Code, fault: Fault, retry?: 'retry-helps') {
  abstract class Known extends NotifierError {
    readonly code = code;
    readonly fault: Fault = fault;
    readonly retryHelps = retry !== undefined;
  }
  return Known;
}

/** Undefined: the error is none of ours, and nothing is known of it. */
export function faultOf(error: unknown): Fault | undefined {
  return error instanceof NotifierError ? error.fault : undefined;
}

/** Undefined: the error is none of ours, and nothing is known of it. */
export function reachOf(error: unknown): Reach | undefined {
  return error instanceof NotifierError ? error.reach : undefined;
}

/**
 * Whether the partner refuses until people mend something: to try every minute would be hammering.
 */
export function isRefusal(error: unknown): boolean {
  return reachOf(error) === 'access' && faultOf(error) === 'partner';
}

/** `ledger-unavailable`: `LedgerUnavailableError`. None while the error is still being built. */
function nameOf(code = ''): string {
  return `${code.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Error`;
}
