/** What the person on duty needs to know about a failure, besides what happened. */
export interface Advice {
  /** Whether the same attempt, made again later, can succeed without anybody doing anything. */
  readonly retryHelps: boolean;
  /** The next step for a person, as an imperative sentence. */
  readonly whatToDo: string;
}

/**
 * The root of every error this project throws on purpose.
 *
 * `message` says what happened and never contains a credential, a response body or a record's
 * value. Branch on the class or on `code`, never on the text.
 */
export abstract class NotifierError extends Error implements Advice {
  /** Stable, kebab-case; logs have it. */
  abstract readonly code: string;
  abstract readonly retryHelps: boolean;
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

/** `ledger-unavailable`: `LedgerUnavailableError`. None while the error is still being built. */
function nameOf(code = ''): string {
  return `${code.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Error`;
}
