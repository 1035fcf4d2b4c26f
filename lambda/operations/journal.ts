import { FunctionJournal } from '../function-journal.ts';
import type { Answer } from './answer.ts';
import { briefly } from './brief.ts';
import type { Command } from './contract.ts';
import type { Records } from './parts.ts';

/** What commands leave behind. No metrics: they would page people. */
export class OperationsJournal extends FunctionJournal implements Records {
  constructor(integration: string) {
    super('certification-notifier-operate', integration);
  }

  carriedOut(command: Command, answer: Answer): void {
    // A certificate of ten years has a megabyte, which is more than a line of a log can have.
    this.logger.info('command', { command: briefly(command), answer: briefly(answer) });
  }
}
