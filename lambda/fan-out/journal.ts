import { Logger } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import { describeDetails, describeError } from '../describe-error.ts';
import type { Journal } from '../ports/journal.ts';
import type { carryOut } from './task.ts';

/** HTTP requests to the partner, those for tokens included. */
interface Effort {
  readonly requests: number;
  readonly durationMs: number;
}

/** What tasks leave behind: structured JSON log lines on stdout. Days and counts, no personal data. */
export class FanOutJournal implements Journal {
  readonly #logger: Logger;

  constructor(integration: string) {
    this.#logger = new Logger({
      serviceName: 'certification-notifier-baseline',
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

  /** Of a plan only how many stretches it has: all of them would be a line of 60 KB. */
  carriedOut(task: unknown, result: Awaited<ReturnType<typeof carryOut>>, effort: Effort): void {
    const brief = 'left' in result ? { ...result, left: result.left.length } : result;
    this.#logger.info('task', { ...effort, task, result: brief });
  }

  failed(task: unknown, error: unknown, effort: Effort): void {
    this.#logger.error('task failed', { ...effort, task, problem: describeError(error) });
  }
}
