import { errorOf } from '../errors.ts';
import { Failure } from '../failure.ts';
import type { PlannedRange } from '../ports/planned-range.ts';

const describeRange = ({ from, to, isOldest }: PlannedRange) =>
  isOldest ? `everything up to ${to}` : `${from} to ${to}`;

/** Ops have paused the integration, or the partner has just refused it. */
export class PartnerLeftAloneError extends errorOf('partner-left-alone', 'ops', 'retry-helps') {
  readonly whatToDo =
    'Nothing, if the ticks complete again soon: the next execution goes on. Otherwise see their notices.';

  constructor(why: 'paused' | 'backing-off') {
    super(`The partner is left alone: the integration is ${why}.`);
  }
}

/** Two tasks never read the same days at once, nor does a tick work while the baseline is ended. */
export class AtWorkError extends errorOf('at-work', 'aws', 'retry-helps') {
  readonly whatToDo =
    'Nothing: it is tried again. It is free when the other invocation ends, at the latest when that times out.';

  /** @param range undefined: all of them have been read */
  constructor(range?: PlannedRange) {
    super(
      `${range ? `A task reads ${describeRange(range)}` : 'A tick is at work'} at the same time.`,
    );
  }
}

/** Somebody else has invoked the function. */
export class UnknownTaskError extends errorOf('unknown-task', 'ops') {
  readonly whatToDo = 'Start an execution of the state machine: it invokes the function by itself.';
}

/** A whole invocation has brought nothing that the next one could go on from. */
export class RangeStuckError extends errorOf('range-stuck', 'partner', 'retry-helps') {
  readonly whatToDo =
    'Is the partner slow? Start the execution again later. If it stays so, let the ticks read the baseline.';

  constructor(range: PlannedRange) {
    super(`There was no time to read any of ${describeRange(range)}.`);
  }
}

/** Ops have had the baseline restarted, or the ticks have completed it. */
export class BaselineRestartedError extends errorOf('baseline-restarted', 'ops') {
  readonly whatToDo = 'Nothing: the next execution reads the baseline as it is now.';

  constructor() {
    super('The days that were to be read belong to a baseline that is over.');
  }
}

const rangesNamed = 10;

/** Some days have not been read: the baseline is not complete. */
export class BaselineUnfinishedError extends errorOf('baseline-unfinished', 'partner') {
  readonly whatToDo =
    'See in the Map Run why a task has failed. The next execution reads what is left; it may be started at once.';

  constructor(left: readonly PlannedRange[], all: number) {
    const more = left.length - rangesNamed;
    const named = left.slice(0, rangesNamed).map(describeRange).join('; ');
    super(
      `${left.length} of ${all} ranges have not been read to their end: ${named}${more > 0 ? `; and ${more} more` : ''}.`,
    );
  }
}

/** What Step Functions is shown of a failed task. Its name tells whether to try again. */
export class TaskFailure extends Failure {
  override readonly code = this.retryHelps ? 'task-failed' : 'task-failed-for-good';

  constructor(failure: unknown) {
    super('task', failure);
  }
}
