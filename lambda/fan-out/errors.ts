import { errorOf } from '../errors.ts';
import { Failure } from '../failure.ts';
import type { PlannedRange } from '../ports/planned-range.ts';

const describeRange = ({ from, to, isOldest }: PlannedRange) =>
  isOldest ? `everything up to ${to}` : `${from} to ${to}`;

/** Ops have paused the integration, or the partner has just refused it. */
export class PartnerLeftAloneError extends errorOf('partner-left-alone', 'ops', 'retry-helps') {
  readonly whatToDo =
    'Nothing, if the ticks complete again soon: the next execution resumes. Otherwise read their notices.';

  constructor(why: 'paused' | 'backing-off') {
    super(`The task has not asked the partner: the integration is ${why}.`);
  }
}

/** Two tasks never read the same days at once, and no tick works while the baseline is ended. */
export class AtWorkError extends errorOf('at-work', 'aws', 'retry-helps') {
  readonly whatToDo =
    'Nothing: the task is tried again. The other invocation ends by itself, at the latest when it times out.';

  /** @param range undefined: all ranges have been read */
  constructor(range?: PlannedRange) {
    super(
      `${range ? `A task reads ${describeRange(range)}` : 'A tick is at work'} at the same time.`,
    );
  }
}

/** The caller was not the state machine. */
export class UnknownTaskError extends errorOf('unknown-task', 'ops') {
  readonly whatToDo = 'Start an execution of the state machine: it invokes the function by itself.';
}

/** A whole invocation made no progress from which the next one could resume. */
export class RangeStuckError extends errorOf('range-stuck', 'partner', 'retry-helps') {
  readonly whatToDo =
    'Start the execution again later, since the partner may be slow. If that does not help, let the ticks read the baseline.';

  constructor(range: PlannedRange) {
    super(`Nothing was read of ${describeRange(range)}: the invocation ran out of time.`);
  }
}

/** Ops have restarted the baseline, or the ticks have completed it. */
export class BaselineRestartedError extends errorOf('baseline-restarted', 'ops') {
  readonly whatToDo = 'Nothing: the next execution reads the baseline as it is now.';

  constructor() {
    super('The days of this task were not read: they belong to a baseline that is over.');
  }
}

const rangesNamed = 10;

/** Some days have not been read: the baseline is not complete. */
export class BaselineUnfinishedError extends errorOf('baseline-unfinished', 'partner') {
  readonly whatToDo =
    'Look for the failed task in the Map Run. The next execution reads the remaining ranges, and may be started at once.';

  constructor(left: readonly PlannedRange[], all: number) {
    const more = left.length - rangesNamed;
    const named = left.slice(0, rangesNamed).map(describeRange).join('; ');
    super(
      `${left.length} of ${all} ranges have not been read to their end: ${named}${more > 0 ? `; and ${more} more` : ''}.`,
    );
  }
}

/** The failure that Step Functions sees. Its name says whether to try again. */
export class TaskFailure extends Failure {
  override readonly code = this.retryHelps ? 'task-failed' : 'task-failed-for-good';

  constructor(failure: unknown) {
    super('task', failure);
  }
}
