import { Logger } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import { describeDetails } from '../describe-error.ts';
import type { Answer } from './answer.ts';
import { briefly } from './brief.ts';
import type { Command } from './command.ts';
import type { Records } from './parts.ts';

/** What commands leave behind: structured JSON log lines on stdout. No metrics: they would page people. */
export class OperationsJournal implements Records {
  readonly #logger: Logger;

  constructor(integration: string) {
    this.#logger = new Logger({
      serviceName: 'certification-notifier-operate',
      persistentKeys: { integration },
    });
  }

  /** Ties every line of this invocation to its request id. */
  begin(context: Context): void {
    this.#logger.addContext(context);
  }

  warn(what: string, details: Readonly<Record<string, unknown>>): void {
    this.#logger.warn(what, describeDetails(details));
  }

  carriedOut(command: Command, answer: Answer): void {
    // A certificate of ten years has a megabyte, which is more than a line of a log can have.
    this.#logger.info('command', { command: briefly(command), answer: briefly(answer) });
  }
}
