import { opsError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';

/** AWS denies an action to the caller. */
export class NotPermittedError extends opsError('not-permitted', exitCodes.refused) {
  readonly whatToDo: string;

  /** @param action as IAM calls it, such as `lambda:InvokeFunction` */
  constructor(action: string, reason: string, options?: ErrorOptions) {
    super(`AWS refuses ${action} (${reason}).`, options);
    this.whatToDo = `Check who you are (aws sts get-caller-identity), the profile and the region; then have ${action} allowed for that identity.`;
  }
}

/** Nobody is signed in at AWS, or no longer. */
export class NotSignedInError extends opsError('not-signed-in', exitCodes.refused) {
  readonly whatToDo: string;

  constructor(problem: string, whatToDo: string, options?: ErrorOptions) {
    super(problem, options);
    this.whatToDo = whatToDo;
  }
}

/** AWS failed, or cannot be reached. */
export class AwsFailedError extends opsError('aws-failed', exitCodes.failed, 'retry-helps') {
  override readonly fault = 'aws';
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
export class QueueGoneError extends opsError('queue-gone', exitCodes.failed) {
  readonly whatToDo = 'Its clock differs, or this machine slept: start it again.';

  constructor(options?: ErrorOptions) {
    super('Another run has removed the queue.', options);
  }
}

/** AWS refuses to start the function now, because of a limit of AWS, not of our lease. */
export class NotStartedError extends opsError('not-started', exitCodes.failed, 'retry-helps') {
  override readonly fault = 'aws';
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
export class AnswerLostError extends opsError('answer-lost', exitCodes.failed, 'retry-helps') {
  override readonly isPerhapsDone = true;
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
export class FunctionFailedError extends opsError(
  'function-failed',
  exitCodes.failed,
  'retry-helps',
) {
  override readonly isPerhapsDone = true;
  readonly whatToDo =
    'Run it again. If it fails again, look at the newest errors in the log of the function.';

  constructor(functionName: string, reason: string) {
    super(`The function ${functionName} failed (${reason}).`);
  }
}

/** The function's answer has a format that this program does not know. */
export class AnswerNotUnderstoodError extends opsError('answer-not-understood', exitCodes.failed) {
  readonly whatToDo =
    'Use the command line of the version that is deployed, or deploy the version of the command line.';

  /** @param paths where the answer differs; no values */
  constructor(paths: readonly string[]) {
    super(
      `The function's answer has another format than this version's (${paths.slice(0, 5).join(', ')}).`,
    );
  }
}
