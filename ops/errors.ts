import { describeError } from '../lambda/describe-error.ts';
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

/** The command line asks for something impossible. */
export class UsageError extends OpsError {
  readonly code = 'usage';
  readonly retryHelps = false;
  readonly exitCode = exitCodes.usage;
  readonly whatToDo: string;

  constructor(problem: string, whatToDo: string) {
    super(problem);
    this.whatToDo = whatToDo;
  }
}

/** Nothing has the given name. */
export class NotFoundError extends OpsError {
  readonly code = 'not-found';
  readonly retryHelps = false;
  readonly exitCode = exitCodes.notFound;
  readonly whatToDo: string;

  constructor(problem: string, whatToDo: string, options?: ErrorOptions) {
    super(problem, options);
    this.whatToDo = whatToDo;
  }
}

/** The user was asked, and said no. */
export class NotConfirmedError extends OpsError {
  readonly code = 'not-confirmed';
  readonly retryHelps = false;
  readonly exitCode = exitCodes.refused;
  readonly whatToDo = 'Nothing was changed.';

  constructor() {
    super('Not confirmed.');
  }
}

/** A defect of this program. */
export class UnexpectedError extends OpsError {
  readonly code = 'unexpected';
  readonly retryHelps = false;
  readonly exitCode = exitCodes.failed;
  readonly whatToDo: string;

  constructor(cause: unknown) {
    const { name, at = [] } = describeError(cause);
    super(`Something unexpected happened (${name}).`, { cause });
    this.whatToDo = `This is a defect: report it with its place in the code: ${at.join(', ') || 'unknown'}.`;
  }
}

/** Standard output failed, so part of the answer is lost. */
export class OutputLostError extends OpsError {
  readonly code = 'output-lost';
  readonly retryHelps = true;
  readonly exitCode = exitCodes.failed;
  readonly whatToDo =
    'The command may have done its work all the same. Make room, or write to another place, and run it again.';

  /** @param reason the operating system's name for the error */
  constructor(reason: string, options?: ErrorOptions) {
    super(`The output could not be written (${reason}).`, options);
  }
}

/** Ctrl-C, or the reader of the output has ended. */
export class InterruptedError extends OpsError {
  readonly code = 'interrupted';
  readonly retryHelps = true;
  readonly exitCode = exitCodes.interrupted;
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

/** A command of several calls has stopped before its end. */
export class StoppedShortError extends OpsError {
  readonly code: string;
  override readonly fault: Fault;
  readonly retryHelps: boolean;
  readonly whatToDo: string;
  readonly exitCode: ExitCode;
  override readonly result: unknown;
  override readonly next: object;
  override readonly goOn: string;

  constructor(
    cause: OpsError,
    { result, next, goOn }: { result: unknown; next: object; goOn: string },
  ) {
    super(cause.message, { cause });
    this.code = cause.code;
    this.fault = cause.fault;
    this.retryHelps = cause.retryHelps;
    this.whatToDo = cause.whatToDo;
    this.exitCode = cause.exitCode;
    this.result = result;
    this.next = next;
    this.goOn = goOn;
  }
}

/** Some integrations, or all, could not be asked; `result` has the answers of the others. */
export class SomeFailedError extends OpsError {
  readonly code: string;
  readonly retryHelps: boolean;
  readonly whatToDo: string;
  readonly exitCode: ExitCode;
  override readonly result: readonly unknown[];

  /** @param cause the failure of the first of them */
  constructor(cause: OpsError, integrations: readonly string[], result: readonly unknown[]) {
    super(`${integrations.join(', ')}: ${cause.message}`, { cause });
    this.code = cause.code;
    this.retryHelps = cause.retryHelps;
    this.whatToDo = cause.whatToDo;
    this.exitCode = cause.exitCode;
    this.result = result;
  }
}
