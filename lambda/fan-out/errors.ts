import { errorOf, type Fault, NotifierError } from '../errors.ts';
import type { Stretch } from '../ports/stretch.ts';

const describeStretch = ({ from, to, isOldest }: Stretch) =>
  isOldest ? `everything up to ${to}` : `${from} to ${to}`;

/** Ops have paused the integration, or the partner has just refused it. */
export class PartnerLeftAloneError extends errorOf('partner-left-alone', 'ops', 'retry-helps') {
  readonly whatToDo =
    'Nothing, if the ticks complete again soon: the next execution goes on. Otherwise see their notices.';

  constructor(why: 'paused' | 'backing-off') {
    super(`The partner is left alone: the integration is ${why}.`);
  }
}

/** Two tasks never read the same days at once. */
export class StretchTakenError extends errorOf('stretch-taken', 'ops', 'retry-helps') {
  readonly whatToDo =
    'Nothing: it is free again when the other task ends, at the latest when its function times out.';

  constructor(stretch: Stretch) {
    super(`Another task reads ${describeStretch(stretch)}.`);
  }
}

/** A whole invocation has brought nothing that the next one could go on from. */
export class StretchStuckError extends errorOf('stretch-stuck', 'partner', 'retry-helps') {
  readonly whatToDo =
    'Is the partner slow? Start the execution again later. If it stays so, let the ticks read the baseline.';

  constructor(stretch: Stretch) {
    super(`There was no time to read any of ${describeStretch(stretch)}.`);
  }
}

/** Ops have had the baseline restarted, or the ticks have completed it. */
export class BaselineRestartedError extends errorOf('baseline-restarted', 'ops') {
  readonly whatToDo = 'Nothing: the next execution reads the baseline as it is now.';

  constructor() {
    super('The days that were to be read belong to a baseline that is over.');
  }
}

const stretchesNamed = 10;

/** Some days have not been read: the baseline is not complete. */
export class BaselineUnfinishedError extends errorOf('baseline-unfinished', 'partner') {
  readonly whatToDo =
    'See in the Map Run why a task has failed. The next execution reads what is left; it may be started at once.';

  constructor(left: readonly Stretch[], all: number) {
    const more = left.length - stretchesNamed;
    super(
      `${left.length} of ${all} stretches have not been read to their end: ${left
        .slice(0, stretchesNamed)
        .map(describeStretch)
        .join('; ')}${more > 0 ? `; and ${more} more` : ''}.`,
    );
  }
}

/** A tick is at work, or operations could not be told. */
export class NotCompletedYetError extends errorOf('not-completed-yet', 'aws', 'retry-helps') {
  readonly whatToDo =
    'Nothing: it is tried again. If that goes on, see "notice refused" in the log.';

  constructor(why: string) {
    super(`All days have been read, but ${why}.`);
  }
}

/**
 * What Step Functions is shown of a failed task. Its name tells whether to try again; a foreign
 * error's message could quote data, so only its name goes on.
 */
export class TaskFailure extends NotifierError {
  readonly code: 'task-failed' | 'task-failed-for-good';
  readonly fault: Fault;
  readonly retryHelps: boolean;
  readonly whatToDo: string;

  constructor(failure: unknown) {
    if (failure instanceof NotifierError) {
      super(`${failure.code}: ${failure.message} ${failure.whatToDo}`);
      this.fault = failure.fault;
      this.retryHelps = failure.retryHelps;
      this.whatToDo = failure.whatToDo;
    } else {
      super(`The task failed: ${failure instanceof Error ? failure.name : typeof failure}.`);
      this.fault = 'ops';
      this.retryHelps = true;
      this.whatToDo =
        'See "task failed" in the log; if it happens again, it is a defect: report it.';
    }
    this.code = this.retryHelps ? 'task-failed' : 'task-failed-for-good';
  }
}
