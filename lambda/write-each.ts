import { pMapSettled } from 'p-map';
import { problemOf } from './describe-error.ts';
import { errorOf, type Fault, NotifierError } from './errors.ts';

const tryAgain =
  'Nothing, if the next tick succeeds: it finds the same changes again, and delivers those that were written after all. Otherwise see "commit failed" in the log.';

/**
 * Several writes have failed; all others are done. Fault and advice are those of the first failure.
 */
export class CommitsFailedError extends errorOf('commits-failed', 'aws', 'retry-helps') {
  override readonly fault: Fault;
  override readonly retryHelps: boolean;
  readonly whatToDo: string;

  /** @param causes in the order in which they came; not all of them may be known */
  constructor(failed: number, causes: readonly unknown[]) {
    const problems = causes.map((cause) => problemOf(cause, 'tick'));
    const [{ message, fault = 'aws', whatToDo = tryAgain } = {}] = problems;
    const why = message === undefined ? '.' : `, the first because: ${message}`;
    const what = failed === 1 ? 'change' : 'changes';
    const cause = causes.length > 0 ? new AggregateError(causes) : undefined;
    super(`${failed} ${what} could not be written${why}`, { cause });
    this.fault = fault;
    this.retryHelps = problems.every((problem) => problem.retryHelps);
    this.whatToDo = whatToDo;
  }
}

/** Writes in flight at once: enough to hide latency, too few to trip a cold table's throttle. */
const writesAtOnce = 16;

/**
 * All writes are awaited, even if some fail: a failure must not leave others under way unattended.
 *
 * @throws LeaseLostError if any has failed so: then the others fail because of it, too
 */
export async function writeEach<Item>(
  items: Iterable<Item>,
  write: (item: Item) => Promise<unknown>,
): Promise<void> {
  const outcomes = await pMapSettled(items, write, { concurrency: writesAtOnce });
  const failed = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  const lost = failed.find(
    (error) => error instanceof NotifierError && error.code === 'lease-lost',
  );
  if (lost) throw lost;
  if (failed.length > 1) throw new CommitsFailedError(failed.length, failed);
  for (const error of failed) throw error;
}
