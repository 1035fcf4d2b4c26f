import { Logger } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import { describeError } from './describe-error.ts';
import type { Journal } from './ports/journal.ts';

/** A function's log: structured JSON lines on stdout, without personal data. */
export class FunctionJournal implements Journal {
  protected readonly logger: Logger;

  constructor(serviceName: string, integration: string) {
    this.logger = new Logger({ serviceName, persistentKeys: { integration } });
  }

  /** Ties every line of this invocation to its request id. */
  begin(context: Context): void {
    this.logger.addContext(context);
  }

  info(what: string, details: Readonly<Record<string, unknown>>): void {
    this.logger.info(what, described(details));
  }

  warn(what: string, details: Readonly<Record<string, unknown>>): void {
    this.logger.warn(what, described(details));
  }

  /** @param problem anything that was thrown */
  error(what: string, problem: unknown, details: Readonly<Record<string, unknown>>): void {
    this.logger.error(what, { ...described(details), problem: describeError(problem) });
  }
}

/** Errors are described: a logger would print them whole. */
function described(details: Readonly<Record<string, unknown>>) {
  const entries = Object.entries(details);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value instanceof Error ? describeError(value) : value]),
  );
}
