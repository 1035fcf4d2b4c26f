import { describeError } from '../describe-error.ts';
import { FunctionJournal } from '../function-journal.ts';
import type { TickLine } from '../journal.ts';
import type { carryOut } from './task.ts';

type Effort = Pick<TickLine, 'requests' | 'durationMs'>;

/** What tasks leave behind: days and counts. */
export class FanOutJournal extends FunctionJournal {
  constructor(integration: string) {
    super('certification-notifier-baseline', integration);
  }

  /** Of a plan only how many ranges it has: all of them would be a line of 60 KB. */
  carriedOut(task: unknown, result: Awaited<ReturnType<typeof carryOut>>, effort: Effort): void {
    const brief = 'left' in result ? { ...result, left: result.left.length } : result;
    this.logger.info('task', { ...effort, task, result: brief });
  }

  failed(task: unknown, error: unknown, effort: Effort): void {
    this.logger.error('task failed', { ...effort, task, problem: describeError(error) });
  }
}
