import { describeError, type Problem } from '../lambda/describe-error.ts';
import { type Fault, NotifierError } from '../lambda/errors.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';

/** The base of all errors that end a command of ops early. */
export abstract class OpsError extends NotifierError {
  readonly fault: Fault = 'ops';
  abstract readonly exitCode: ExitCode;
  /** The work done before the error, if any. */
  readonly result?: unknown;
  /** The command that resumes the work, if there is one. */
  readonly next?: object;
  /** That command as it is typed. */
  readonly goOn?: string;
  /** The call gave no answer, but may have done its work. */
  readonly isPerhapsDone: boolean = false;
}

/** The class that an error extends: its code, its exit code, and whether a retry helps. */
export function opsError<Code extends string>(
  code: Code,
  exitCode: ExitCode,
  retry?: 'retry-helps',
) {
  abstract class Known extends OpsError {
    readonly code = code;
    readonly exitCode = exitCode;
    readonly retryHelps = retry !== undefined;
  }
  return Known;
}

type Told = Omit<Problem, 'message'> & Pick<OpsError, 'exitCode' | 'result' | 'next' | 'goOn'>;

/** Tells of another failure, and more: its own words, the work that was done, how to go on. */
export class RetoldError extends OpsError {
  declare readonly code: string;
  declare readonly retryHelps: boolean;
  declare readonly whatToDo: string;
  declare readonly exitCode: ExitCode;

  constructor(message: string, told: Told, cause?: NotifierError) {
    super(message, cause && { cause });
    Object.assign(this, told);
  }
}

/** The command line asks for something impossible. */
export class UsageError extends opsError('usage', exitCodes.usage) {
  readonly whatToDo: string;

  constructor(problem: string, whatToDo: string) {
    super(problem);
    this.whatToDo = whatToDo;
  }
}

/** Nothing has the given name. */
export class NotFoundError extends opsError('not-found', exitCodes.notFound) {
  readonly whatToDo: string;

  constructor(problem: string, whatToDo: string, options?: ErrorOptions) {
    super(problem, options);
    this.whatToDo = whatToDo;
  }
}

/** The user was asked, and said no. */
export class NotConfirmedError extends opsError('not-confirmed', exitCodes.refused) {
  readonly whatToDo = 'Nothing was changed.';

  constructor() {
    super('Not confirmed.');
  }
}

/** A defect of this program. */
export class UnexpectedError extends opsError('unexpected', exitCodes.failed) {
  readonly whatToDo: string;

  constructor(cause: unknown) {
    const { name, at = [] } = describeError(cause);
    super(`Something unexpected happened (${name}).`, { cause });
    this.whatToDo = `This is a defect: report it with its place in the code: ${at.join(', ') || 'unknown'}.`;
  }
}

/** Standard output failed, so part of the answer is lost. */
export class OutputLostError extends opsError('output-lost', exitCodes.failed, 'retry-helps') {
  readonly whatToDo =
    'The command may have done its work all the same. Make room, or write to another place, and run it again.';

  /** @param reason the operating system's name for the error */
  constructor(reason: string, options?: ErrorOptions) {
    super(`The output could not be written (${reason}).`, options);
  }
}

/** Ctrl-C, or the reader of the output has ended. */
export class InterruptedError extends opsError(
  'interrupted',
  exitCodes.interrupted,
  'retry-helps',
) {
  readonly whatToDo: string;

  constructor(whatToDo = 'Nothing was changed.') {
    super('Interrupted.');
    this.whatToDo = whatToDo;
  }
}

/** Ctrl-C during a call that changes something: nothing stops a call that has reached AWS. */
export class CallGoesOnError extends InterruptedError {
  override readonly isPerhapsDone = true;

  /** @param seeing says where the outcome shows */
  constructor(seeing: string) {
    super(`The call in progress goes on in AWS to its end, within a minute; ${seeing}`);
  }
}
