import { describeError } from '../lambda/describe-error.ts';
import { type Fault, NotifierError } from '../lambda/errors.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';

/** Everything that ends a command of the operators before its time. */
export abstract class OpsError extends NotifierError {
  readonly fault: Fault = 'ops';
  abstract readonly exitCode: ExitCode;
  /** What was done before, if anything. */
  readonly result?: unknown;
  /** The command that goes on from here, if one does, */
  readonly next?: object;
  /** and how to type it. */
  readonly goOn?: string;
  /** A call that has not answered may have done something all the same. */
  readonly isPerhapsDone: boolean = false;
}

/** The command line asks for something that cannot be. */
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

/** There is nothing of that name. */
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

/** Somebody was asked, and said no. */
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
    this.whatToDo = `This is a defect: report it, with where it happened: ${at.join(', ') || 'unknown'}.`;
  }
}

/** What was answered has not got to where standard output goes. */
export class OutputLostError extends OpsError {
  readonly code = 'output-lost';
  readonly retryHelps = true;
  readonly exitCode = exitCodes.failed;
  readonly whatToDo =
    'What was asked for may have been done all the same. Make room, or write to another place, and run it again.';

  /** @param reason the operating system's name for it */
  constructor(reason: string, options?: ErrorOptions) {
    super(`The output could not be written (${reason}).`, options);
  }
}

/** Ctrl-C, or the end of whoever reads the output. */
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

/** Ctrl-C while the function is at it: nothing stops a call that has reached AWS. */
export class CallGoesOnError extends InterruptedError {
  override readonly isPerhapsDone = true;

  /** @param seeing where it shows what came of it */
  constructor(seeing: string) {
    super(`The call in progress goes on in AWS to its end, within a minute; ${seeing}`);
  }
}

/** What takes several calls has not come to its end. */
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

/** Some integrations could not be looked at, or all; what is known of the others has been told. */
export class SomeFailedError extends OpsError {
  readonly code: string;
  readonly retryHelps: boolean;
  readonly whatToDo: string;
  readonly exitCode: ExitCode;
  override readonly result: readonly unknown[];

  /** @param cause what went wrong with the first of them */
  constructor(cause: OpsError, integrations: readonly string[], result: readonly unknown[]) {
    super(`${integrations.join(', ')}: ${cause.message}`, { cause });
    this.code = cause.code;
    this.retryHelps = cause.retryHelps;
    this.whatToDo = cause.whatToDo;
    this.exitCode = cause.exitCode;
    this.result = result;
  }
}
