import { describeError } from '../lambda/describe-error.ts';
import { NotifierError } from '../lambda/errors.ts';
import type { Problem } from '../lambda/operations/answer.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';

/** Everything that ends a command of the operators before its time. */
export abstract class OpsError extends NotifierError {
  abstract readonly exitCode: ExitCode;
  /** What was done before, if anything. */
  readonly result?: unknown;
  /** The command line that goes on from here, if one does. */
  readonly goOn?: string;
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

/** AWS does not let the caller do it. */
export class NotPermittedError extends OpsError {
  readonly code = 'not-permitted';
  readonly retryHelps = false;
  readonly exitCode = exitCodes.refused;
  readonly whatToDo: string;

  /** @param action as IAM calls it, such as `lambda:InvokeFunction` */
  constructor(action: string, reason: string, options?: ErrorOptions) {
    super(`AWS refuses ${action} (${reason}).`, options);
    this.whatToDo = `Check who you are (aws sts get-caller-identity), the profile and the region; then have ${action} allowed for that identity.`;
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

/** AWS failed, or cannot be reached. */
export class AwsFailedError extends OpsError {
  readonly code = 'aws-failed';
  readonly retryHelps = true;
  readonly exitCode = exitCodes.failed;
  readonly whatToDo =
    'Run it again in a minute. If it stays so, check the network and the region, and the AWS Health Dashboard.';

  /** @param action as IAM calls it */
  constructor(action: string, reason: string, options?: ErrorOptions) {
    super(`${action} failed (${reason}).`, options);
  }
}

/** The function that carries out commands ended without an answer. */
export class FunctionFailedError extends OpsError {
  readonly code = 'function-failed';
  readonly retryHelps = true;
  readonly exitCode = exitCodes.failed;
  readonly whatToDo =
    'Run it again. If it fails again, look at the newest errors in the log of the function.';

  constructor(functionName: string, reason: string) {
    super(`The function ${functionName} failed (${reason}).`);
  }
}

/** The function answers in a way that this program does not know. */
export class AnswerNotUnderstoodError extends OpsError {
  readonly code = 'answer-not-understood';
  readonly retryHelps = false;
  readonly exitCode = exitCodes.failed;
  readonly whatToDo =
    'Use the command line of the version that is deployed, or deploy the version of the command line.';

  /** @param paths where the answer differs; no values */
  constructor(paths: readonly string[]) {
    super(
      `The function's answer is not what this version expects (${paths.slice(0, 5).join(', ')}).`,
    );
  }
}

/** The function says what went wrong, and what was done before. */
export class CommandFailedError extends OpsError {
  readonly code: string;
  readonly retryHelps: boolean;
  readonly whatToDo: string;
  readonly exitCode: ExitCode;
  override readonly result: unknown;

  constructor({ code, message, retryHelps, whatToDo }: Problem, result?: unknown) {
    super(message);
    this.code = code;
    this.retryHelps = retryHelps;
    this.whatToDo = whatToDo;
    this.result = result;
    this.exitCode = exitCodeOf(code);
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

/** Ctrl-C, or the end of whoever reads the output. */
export class InterruptedError extends OpsError {
  readonly code = 'interrupted';
  readonly retryHelps = true;
  readonly exitCode = exitCodes.interrupted;
  readonly whatToDo: string;

  constructor(whatToDo = 'What the function has begun, it ends by itself.') {
    super('Interrupted.');
    this.whatToDo = whatToDo;
  }
}

/** What takes several calls has not come to its end. */
export class StoppedShortError extends OpsError {
  readonly code: string;
  readonly retryHelps: boolean;
  readonly whatToDo: string;
  readonly exitCode: ExitCode;
  override readonly result: unknown;
  override readonly goOn: string;

  constructor(cause: OpsError, goOn: string, result: unknown) {
    super(cause.message, { cause });
    this.code = cause.code;
    this.retryHelps = cause.retryHelps;
    this.whatToDo = cause.whatToDo;
    this.exitCode = cause.exitCode;
    this.goOn = goOn;
    this.result = result;
  }
}
