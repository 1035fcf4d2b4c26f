import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import * as z from 'zod/mini';
import { inEnglish } from '../../lambda/english.ts';
import type { CommandName } from '../../lambda/operations/command.ts';
import { contract, type ResultOf } from '../../lambda/operations/contract.ts';
import { problemSchema } from '../../lambda/operations/result.ts';
import {
  AnswerNotUnderstoodError,
  CommandFailedError,
  FunctionFailedError,
  NotFoundError,
  UsageError,
} from '../errors.ts';
import { harmless } from '../render/text.ts';
import { type Access, calling } from './access.ts';
import type { DeployedIntegration } from './target.ts';

/** What a command is sent besides its name. */
export type SettingsOf<Name extends CommandName> = Omit<
  z.input<(typeof contract)[Name]['command']>,
  'command'
>;

/** What a command has come to. */
export type Outcome<Result> =
  | { readonly result: Result; readonly failure?: undefined }
  | { readonly result?: Result; readonly failure: CommandFailedError };

const envelope = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({ ok: z.literal(false), problem: problemSchema, result: z.optional(z.unknown()) }),
]);

/** The contract, such that a command's name tells the type of its result. */
const answers: {
  readonly [Name in CommandName]: { readonly result: z.ZodMiniType<ResultOf<Name>> };
} = contract;

/** Longer than the function's own time limit of 55 seconds: only a lost connection is given up. */
const requestTimeout = 65_000;

/** Has commands carried out by the function of an integration. */
export class Operator {
  readonly integration: DeployedIntegration;
  readonly #lambda: LambdaClient;
  readonly #stop: AbortSignal;

  constructor(access: Access, integration: DeployedIntegration, stop: AbortSignal) {
    this.integration = integration;
    this.#stop = stop;
    this.#lambda = new LambdaClient({
      ...access.client('lambda'),
      requestHandler: { connectionTimeout: 5_000, requestTimeout },
      // A command whose answer is lost may have been carried out: whoever gave it decides.
      maxAttempts: 1,
    });
  }

  /**
   * @throws UsageError for settings that the command does not take
   * @throws CommandFailedError when the function answers with a problem
   * @throws FunctionFailedError, AnswerNotUnderstoodError, NotPermittedError, AwsFailedError
   */
  async ask<Name extends CommandName>(
    name: Name,
    settings: SettingsOf<Name>,
  ): Promise<ResultOf<Name>> {
    const { result, failure } = await this.attempt(name, { command: name, ...settings });
    if (failure !== undefined) throw failure;
    return result;
  }

  /**
   * As `ask`, but a problem is an answer: what was done before it is told, too.
   *
   * @param input the whole command, such as `next` of an answer
   */
  async attempt<Name extends CommandName>(
    name: Name,
    input: object,
  ): Promise<Outcome<ResultOf<Name>>> {
    const command = contract[name].command.safeParse(input, inEnglish);
    if (!command.success) throw notACommand(command.error);
    const answer = understood(envelope, await this.#invoke(command.data));
    const schema = answers[name].result;
    if (answer.ok) return { result: understood(schema, answer.result) };
    const failure = new CommandFailedError(answer.problem, answer.result);
    if (answer.result === undefined) return { failure };
    return { failure, result: understood(schema, answer.result) };
  }

  async #invoke(command: object): Promise<unknown> {
    const FunctionName = this.integration.operateFunction;
    const invocation = new InvokeCommand({ FunctionName, Payload: JSON.stringify(command) });
    const { FunctionError, Payload } = await calling(
      'lambda:InvokeFunction',
      () => this.#lambda.send(invocation, { abortSignal: this.#stop }),
      this.#stop,
    ).catch((error) => {
      if (!(error.cause instanceof Error && error.cause.name === 'ResourceNotFoundException'))
        throw error;
      throw new NotFoundError(
        `There is no function ${FunctionName}.`,
        'Somebody has removed it: deploy the stack again.',
      );
    });
    const payload = parsed(Payload?.transformToString() ?? '');
    if (FunctionError === undefined) return payload;
    throw new FunctionFailedError(FunctionName, errorTypeOf(payload));
  }
}

/** @throws AnswerNotUnderstoodError */
function understood<T>(schema: z.ZodMiniType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new AnswerNotUnderstoodError(parsed.error.issues.map(({ path }) => path.join('.')));
}

/** Nothing of what comes from elsewhere may steer the terminal: it is made harmless where it arrives. */
function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload, (_, value) => (typeof value === 'string' ? harmless(value) : value));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function errorTypeOf(payload: unknown): string {
  return typeof payload === 'object' && payload !== null && 'errorType' in payload
    ? String(payload.errorType)
    : 'no reason given';
}

function notACommand({ issues }: z.core.$ZodError): UsageError {
  const problems = issues.map(({ path, message }) =>
    path.length > 0 ? `${path.join('.')}: ${message}` : message,
  );
  return new UsageError(`${problems.join('; ')}.`, 'Correct the options; --help describes them.');
}
