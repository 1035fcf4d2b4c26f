import type { Denial } from '../access-denied.ts';
import { noticed } from '../condition-table.ts';
import { errorOf } from '../errors.ts';

/** The integration has never ticked: there is nothing that could be looked at or changed. */
export class NothingRecordedError extends errorOf('nothing-recorded', 'ops') {
  readonly whatToDo =
    'Is the schedule enabled, and do the credentials work? The log of the ticks says what keeps them.';

  constructor(integration: string) {
    super(`No tick of ${integration} has ever begun its work.`);
  }
}

/** A tick, or another command, is at work and has not come to its end in time. */
export class BusyError extends errorOf('busy', 'ops', 'retry-helps') {
  readonly whatToDo = 'Give the command again in a minute: by then the one before has ended.';

  constructor() {
    super('A tick or another command is at work on this integration, and has not ended in time.');
  }
}

/** Ops have stopped the integration: nothing is read or announced. */
export class PausedError extends errorOf('paused', 'ops') {
  readonly whatToDo = noticed.paused.toDo;

  constructor() {
    super('The integration is paused.');
  }
}

/** The partner has refused the integration, and is left alone for a while. */
export class BackingOffError extends errorOf('backing-off', 'partner', 'retry-helps') {
  readonly whatToDo =
    'Mend what the partner refuses: status says what it is. It is asked again by itself, at the latest after an hour.';

  constructor() {
    super('The partner has refused this integration a moment ago, and is left alone.');
  }
}

/** The first full read is not done: there is nothing yet that could be proven again. */
export class BaselineRunningError extends errorOf('baseline-running', 'ops', 'retry-helps') {
  readonly whatToDo = 'Wait for the baseline: the command baseline shows how far it is.';

  constructor() {
    super('The first full read is not completed.');
  }
}

/** All of the time went by before anything was done. */
export class StalledError extends errorOf('stalled', 'partner', 'retry-helps') {
  readonly whatToDo =
    'Send the command in `next` again. If it stalls again, the partner or the ledger is far slower than usual: look at the log of the ticks.';

  constructor() {
    super('The time of the call was over before anything was done.');
  }
}

/** The partner shows something else than what was looked at. */
export class TotalChangedError extends errorOf('total-changed', 'partner') {
  readonly whatToDo = 'Look at the total again, and accept it as it is now, if it is right.';

  constructor(total: number, shown: number) {
    super(`The partner shows ${shown} assessments, not about ${total}.`);
  }
}

const refusedAgain =
  'Send the command again, or its `next`. If it is refused again, look at the permissions of the operate function, and at the policy and the key of the target: events of the ticks may be refused as well.';

/** The topic or the queue did not take an event that it should have taken. */
export class EventsRefusedError extends errorOf('events-refused', 'aws', 'retry-helps') {
  override readonly retryHelps: boolean;
  readonly whatToDo: string;

  /** @param denial if it was refused for want of permission */
  constructor(refused: number, code: string, denial?: Denial) {
    const why = denial === undefined ? ` (${code}).` : `: ${denial.message}`;
    super(`${refused} ${refused === 1 ? 'event was' : 'events were'} refused${why}`);
    this.retryHelps = denial === undefined;
    this.whatToDo = denial?.whatToDo ?? refusedAgain;
  }
}
