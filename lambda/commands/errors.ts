import type { Denial } from '../access-denied.ts';
import { noticed } from '../condition-table.ts';
import { errorOf } from '../errors.ts';

/** The integration has never ticked: there is nothing that could be looked at or changed. */
export class NothingRecordedError extends errorOf('nothing-recorded', 'ops') {
  readonly whatToDo =
    'Check the schedule and the credentials: the log of the ticks names the obstacle.';

  constructor(integration: string) {
    super(`No tick of ${integration} has ever begun its work.`);
  }
}

/** A tick, or another command, is at work and has not come to its end in time. */
export class BusyError extends errorOf('busy', 'ops', 'retry-helps') {
  readonly whatToDo =
    'Give the command again in a minute: the tick or command before it has ended by then.';

  constructor() {
    super('A tick or another command is at work on this integration, and has not ended in time.');
  }
}

/** Ops have paused the integration: nothing is read or announced. */
export class PausedError extends errorOf('paused', 'ops') {
  readonly whatToDo = noticed.paused.toDo;

  constructor() {
    super('The integration is paused.');
  }
}

/** The partner has refused the integration, and is not asked for a while. */
export class BackingOffError extends errorOf('backing-off', 'partner', 'retry-helps') {
  readonly whatToDo =
    'Mend the cause of the refusal, which status names. Ticks ask the partner again by themselves, at the latest after an hour.';

  constructor() {
    super('The partner has just refused this integration, and is not asked for a while.');
  }
}

/** The baseline is not completed: nothing can be proven again yet. */
export class BaselineRunningError extends errorOf('baseline-running', 'ops', 'retry-helps') {
  readonly whatToDo = 'Wait for the baseline: the command baseline shows how far it is.';

  constructor() {
    super('The baseline is not completed.');
  }
}

/** The time of the call was over before anything was done. */
export class StalledError extends errorOf('stalled', 'partner', 'retry-helps') {
  readonly whatToDo =
    'Send the command in `next` again. If it stalls again, the partner or the ledger is far slower than usual: look at the log of the ticks.';

  constructor() {
    super('The time of the call was over before anything was done.');
  }
}

/** The partner's total differs from the one that ops have looked at. */
export class TotalChangedError extends errorOf('total-changed', 'partner') {
  readonly whatToDo = 'Look at the total again, and accept it as it is now, if it is right.';

  constructor(total: number, shown: number) {
    super(`The partner shows ${shown} assessments, not about ${total}.`);
  }
}

const refusedAgain =
  'Send the command again, or its `next`. If it is refused again, look at the permissions of the operate function, and at the policy and the key of the target. Events of the ticks may be refused as well.';

/** The topic or the queue has refused an event that it should accept. */
export class EventsRefusedError extends errorOf('events-refused', 'aws', 'retry-helps') {
  override readonly retryHelps: boolean;
  readonly whatToDo: string;

  /** @param denial if a permission is missing */
  constructor(refused: number, code: string, denial?: Denial) {
    const why = denial === undefined ? ` (${code}).` : `: ${denial.message}`;
    super(`${refused} ${refused === 1 ? 'event was' : 'events were'} refused${why}`);
    this.retryHelps = denial === undefined;
    this.whatToDo = denial?.whatToDo ?? refusedAgain;
  }
}
