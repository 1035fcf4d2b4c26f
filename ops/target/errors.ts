import type { Problem } from '../../lambda/describe-error.ts';
import type { Fault } from '../../lambda/errors.ts';
import { OpsError } from '../errors.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-codes.ts';

/** AWS denies an action to the caller. */
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

/** Nobody is signed in at AWS, or no longer. */
export class NotSignedInError extends OpsError {
  readonly code = 'not-signed-in';
  readonly retryHelps = false;
  readonly exitCode = exitCodes.refused;
  readonly whatToDo: string;

  constructor(problem: string, whatToDo: string, options?: ErrorOptions) {
    super(problem, options);
    this.whatToDo = whatToDo;
  }
}

/** AWS failed, or cannot be reached. */
export class AwsFailedError extends OpsError {
  readonly code = 'aws-failed';
  override readonly fault = 'aws';
  readonly retryHelps = true;
  readonly exitCode = exitCodes.failed;
  readonly whatToDo: string;
  /** The name of the error at the service or the operating system. */
  readonly reason: string;
  /** The request was sent and got no answer: it may have been carried out. */
  readonly isAnswerLost: boolean;

  /** @param action as IAM calls it */
  constructor(
    action: string,
    {
      reason,
      isAnswerLost,
      isThisMachine,
    }: {
      reason: string;
      isAnswerLost: boolean;
      /** A port of this machine refused the connection: the local instance has ended. */
      isThisMachine: boolean;
    },
    options?: ErrorOptions,
  ) {
    super(`${action} failed (${reason}).`, options);
    this.whatToDo = isThisMachine
      ? 'The local instance has ended: start npm start again, then this command.'
      : 'Run it again in a minute. If it stays so, check the network and the region, and the AWS Health Dashboard.';
    this.reason = reason;
    this.isAnswerLost = isAnswerLost;
  }
}

/** The queue of a command that runs for long is gone. */
export class QueueGoneError extends OpsError {
  readonly code = 'queue-gone';
  readonly retryHelps = false;
  readonly exitCode = exitCodes.failed;
  readonly whatToDo = 'Its clock differs, or this machine slept: start it again.';

  constructor(options?: ErrorOptions) {
    super('Another run has removed the queue.', options);
  }
}

/** The end of a command could not remove its subscription, its queue, or both. */
export class LeftBehindError extends OpsError {
  readonly code = 'left-behind';
  override readonly fault: Fault;
  readonly retryHelps = false;
  readonly exitCode: ExitCode;
  readonly whatToDo: string;

  constructor(cause: OpsError, owner: string, left: readonly string[]) {
    super(`${cause.message} Left behind: ${left.join(', ')}.`, { cause });
    this.fault = cause.fault;
    this.exitCode = cause.exitCode;
    this.whatToDo = `The next run of ${owner} removes that, twenty minutes from now or later.`;
  }
}

/** AWS refuses to start the function now, because of a limit of AWS, not of our lease. */
export class NotStartedError extends OpsError {
  readonly code = 'not-started';
  override readonly fault = 'aws';
  readonly retryHelps = true;
  readonly exitCode = exitCodes.failed;
  readonly whatToDo =
    'Run it again in a minute. If it stays so, too many functions of this account run at once: see "Concurrent executions" in Service Quotas.';

  constructor(integration: string, reason: string, options?: ErrorOptions) {
    super(
      `AWS does not start the function for ${integration} now (${reason}): nothing was done.`,
      options,
    );
  }
}

/** The connection ended between a command that changes something and its answer. */
export class AnswerLostError extends OpsError {
  readonly code = 'answer-lost';
  readonly retryHelps = true;
  override readonly isPerhapsDone = true;
  readonly exitCode = exitCodes.failed;
  readonly whatToDo: string;

  /**
   * @param reason the operating system's name for the error
   * @param seeing says where the outcome shows
   */
  constructor(
    command: string,
    { reason, seeing }: { reason: string; seeing: string },
    options?: ErrorOptions,
  ) {
    super(`The answer to ${command} was lost (${reason}).`, options);
    this.whatToDo = `It may go on in AWS to its end, within a minute; ${seeing}`;
  }
}

/** The function that carries out commands ended without an answer. */
export class FunctionFailedError extends OpsError {
  readonly code = 'function-failed';
  readonly retryHelps = true;
  override readonly isPerhapsDone = true;
  readonly exitCode = exitCodes.failed;
  readonly whatToDo =
    'Run it again. If it fails again, look at the newest errors in the log of the function.';

  constructor(functionName: string, reason: string) {
    super(`The function ${functionName} failed (${reason}).`);
  }
}

/** The function's answer has a format that this program does not know. */
export class AnswerNotUnderstoodError extends OpsError {
  readonly code = 'answer-not-understood';
  readonly retryHelps = false;
  readonly exitCode = exitCodes.failed;
  readonly whatToDo =
    'Use the command line of the version that is deployed, or deploy the version of the command line.';

  /** @param paths where the answer differs; no values */
  constructor(paths: readonly string[]) {
    super(
      `The function's answer has another format than this version's (${paths.slice(0, 5).join(', ')}).`,
    );
  }
}

/** The function answered with a problem, and with the work done before it, if any. */
export class CommandFailedError extends OpsError {
  readonly code: string;
  override readonly fault: Fault;
  readonly retryHelps: boolean;
  readonly whatToDo: string;
  readonly exitCode: ExitCode;
  override readonly result: unknown;

  constructor({ code, fault, message, retryHelps, whatToDo }: Problem, result?: unknown) {
    super(message);
    this.code = code;
    this.fault = fault;
    this.retryHelps = retryHelps;
    this.whatToDo = whatToDo;
    this.result = result;
    this.exitCode = exitCodeOf(code);
  }
}
