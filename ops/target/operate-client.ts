import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import * as z from 'zod/mini';
import { type Clock, systemClock } from '../../lambda/clock.ts';
import {
  type Command,
  type CommandName,
  type CommandOf,
  type contract,
  definitions,
  isChanging,
  type ResultOf,
} from '../../lambda/commands/contract.ts';
import { problemSchema } from '../../lambda/commands/shapes.ts';
import { inEnglish, problemsOf } from '../../lambda/english.ts';
import {
  CallGoesOnError,
  NotFoundError,
  type OpsError,
  RetoldError,
  UsageError,
} from '../errors.ts';
import { exitCodeOf } from '../exit-codes.ts';
import { harmlessJson } from '../render/text.ts';
import { type Access, calling, timeouts } from './access.ts';
import {
  AnswerLostError,
  AnswerNotUnderstoodError,
  AwsFailedError,
  FunctionFailedError,
  NotStartedError,
} from './errors.ts';
import type { DeployedIntegration } from './target.ts';

/** The input of a command, without its name. */
export type SettingsOf<Name extends CommandName> = Omit<
  z.input<(typeof contract)[Name]['command']>,
  'command'
>;

/** The outcome of a command: its result, or a failure with the work done before it. */
export type Outcome<Result> =
  | { readonly result: Result; readonly failure?: undefined }
  | { readonly result?: Result; readonly failure: OpsError };

const envelope = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({ ok: z.literal(false), problem: problemSchema, result: z.optional(z.unknown()) }),
]);

const seenInHistory = 'status --history shows the outcome.';

/** Longer than the function's own time limit of 55 seconds: only a lost connection is given up. */
const answerMs = 65_000;
/** By then, the earlier call that kept this one from starting has ended. */
const startedWithinMs = 60_000;
const triedAgainMs = { least: 1_000, most: 8_000 };
/** A shorter wait is not reported. */
const toldAfterMs = 2_000;

interface OperateClientOptions {
  readonly stop: AbortSignal;
  /**
   * With it, a call that AWS does not start is repeated for a minute; after two seconds this is called, once a call.
   * Absent: the caller repeats it.
   */
  readonly onNotStarted?: ((refusal: NotStartedError) => void) | undefined;
  readonly clock?: Clock;
  /** Called before a command that changes something; an error that it throws prevents the command. */
  readonly beforeChange?: ((command: Command) => void) | undefined;
  /** The time after which a call without an answer is given up. */
  readonly silenceMs?: number;
}

/** Gives commands to the function of one integration. */
export class OperateClient {
  readonly integration: DeployedIntegration;
  readonly #lambda: LambdaClient;
  readonly #options: OperateClientOptions & { readonly clock: Clock };

  constructor(access: Access, integration: DeployedIntegration, options: OperateClientOptions) {
    this.integration = integration;
    this.#options = { clock: systemClock, ...options };
    const settings = {
      ...access.settings('lambda'),
      ...timeouts(options.silenceMs ?? answerMs),
      // A command whose answer is lost may have been carried out: the user decides whether to repeat it.
      maxAttempts: 1,
    };
    this.#lambda = access.clients.open(new LambdaClient(settings));
  }

  /**
   * @throws UsageError for settings that the command does not take
   * @throws RetoldError when the function answers with a problem
   * @throws NotStartedError, FunctionFailedError, AnswerNotUnderstoodError, NotPermittedError, AwsFailedError
   */
  async ask<Name extends CommandName>(
    name: Name,
    settings: SettingsOf<Name>,
  ): Promise<ResultOf<Name>> {
    const { result, failure } = await this.attempt(name, settings);
    if (failure !== undefined) throw failure;
    return result;
  }

  /**
   * As `ask`, but returns a problem, with the work done before it.
   *
   * @param input its settings, or the whole command, such as `next` of an answer
   */
  async attempt<Name extends CommandName>(
    name: Name,
    input: object,
  ): Promise<Outcome<ResultOf<Name>>> {
    const answer = understood(envelope, await this.#started(commandOf(name, input)));
    const schema = definitions[name].result;
    if (answer.ok) return { result: understood(schema, answer.result) };
    const { problem, result } = answer;
    const exitCode = exitCodeOf(problem.code);
    const failure = new RetoldError(problem.message, { ...problem, exitCode, result });
    if (answer.result === undefined) return { failure };
    return { failure, result: understood(schema, answer.result) };
  }

  /** A call that was not started has done nothing, so any command can safely be repeated. */
  async #started(command: Command): Promise<unknown> {
    const { clock, stop, beforeChange, onNotStarted: tell } = this.#options;
    if (isChanging(command.command, command)) beforeChange?.(command);
    const began = clock.now();
    let isTold = false;
    for (;;) {
      try {
        return await this.#invoke(command);
      } catch (error) {
        const waitedMs = clock.now().since(began).total('milliseconds');
        if (!(error instanceof NotStartedError) || !tell || waitedMs >= startedWithinMs)
          throw error;
        if (!isTold && waitedMs >= toldAfterMs) {
          tell(error);
          isTold = true;
        }
        const { least, most } = triedAgainMs;
        await clock.sleep(Math.min(Math.max(waitedMs, least), most), stop);
      }
    }
  }

  async #invoke(command: Command): Promise<unknown> {
    const { stop } = this.#options;
    const FunctionName = this.integration.operateFunction;
    const invocation = new InvokeCommand({ FunctionName, Payload: JSON.stringify(command) });
    const { FunctionError, Payload } = await calling(
      'lambda:InvokeFunction',
      () => this.#lambda.send(invocation, { abortSignal: stop }),
      stop,
    ).catch((error) => {
      throw this.#notAnswered(command, error);
    });
    const payload = harmlessJson(Payload?.transformToString() ?? '');
    if (FunctionError === undefined) return payload;
    throw new FunctionFailedError(FunctionName, errorTypeOf(payload));
  }

  /** The error of a call without an answer, in terms of the command. */
  #notAnswered(command: Command, error: unknown): unknown {
    const { command: name } = command;
    const changes = isChanging(name, command);
    const where = definitions[name].seenIn ?? seenInHistory;
    if (changes && this.#options.stop.aborted) return new CallGoesOnError(where);
    if (!(error instanceof AwsFailedError)) return error;
    if (error.reason === 'ResourceNotFoundException')
      return new NotFoundError(
        `There is no function ${this.integration.operateFunction}.`,
        'Somebody has removed it: deploy the stack again.',
        { cause: error },
      );
    if (error.reason === 'TooManyRequestsException')
      return new NotStartedError(this.integration.name, error.reason, { cause: error });
    if (changes && error.isAnswerLost)
      return new AnswerLostError(name, { reason: error.reason, seeing: where }, { cause: error });
    return error;
  }
}

/** The command with these settings. @throws UsageError for settings that it does not take */
export function commandOf<Name extends CommandName>(name: Name, settings: object): CommandOf<Name> {
  const command = definitions[name].command.safeParse({ ...settings, command: name }, inEnglish);
  if (command.success) return command.data;
  throw new UsageError(
    `${problemsOf(command.error).join('; ')}.`,
    'Correct the options; --help describes them.',
  );
}

/** @throws AnswerNotUnderstoodError */
function understood<T>(schema: z.ZodMiniType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new AnswerNotUnderstoodError(parsed.error.issues.map(({ path }) => path.join('.')));
}

function errorTypeOf(payload: unknown): string {
  return typeof payload === 'object' && payload !== null && 'errorType' in payload
    ? String(payload.errorType)
    : 'no reason given';
}
