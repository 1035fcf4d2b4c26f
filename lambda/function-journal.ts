import { Logger } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import { describeError } from './describe-error.ts';
import type { Journal } from './ports/journal.ts';

/** What a function leaves behind: structured JSON log lines on stdout, without personal data. */
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
    this.logger.info(what, details);
  }

  warn(what: string, details: Readonly<Record<string, unknown>>): void {
    // Errors are described: a logger would print them whole.
    const described = Object.entries(details).map(([name, value]) => [
      name,
      value instanceof Error ? describeError(value) : value,
    ]);
    this.logger.warn(what, Object.fromEntries(described));
  }
}
