import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { AssemblyError } from './errors.ts';
import type { FunctionPlan } from './interpret.ts';
import type { Json } from './template.ts';

/** Base URLs of the embedded services. SNS and SQS are one server. */
export interface Endpoints {
  readonly dynamodb: string;
  readonly sns: string;
  readonly sqs: string;
  readonly secretsManager: string;
  readonly kms: string;
}

/** A line a function wrote. `metrics`: CloudWatch's embedded metric format. */
export interface OutputLine {
  readonly functionName: string;
  readonly stream: 'stdout' | 'stderr';
  readonly kind: 'log' | 'metrics';
  readonly text: string;
}

export interface FunctionOptions {
  readonly codeDirectory: string;
  readonly region: string;
  readonly endpoints: Endpoints;
  /** Called for every line, before the invocation that wrote it resolves. */
  readonly onOutput?: ((line: OutputLine) => void) | undefined;
  /** Takes and gives execution environments. Absent: an environment begins and ends with its function. */
  readonly idle?: IdleEnvironments | undefined;
  /**
   * For tests: the value of `Math.random` in the bundle, from 0 up to, not including, 1. With 0, no retry waits: each
   * back-off is a random part of its limit, the SDK's own included.
   */
  readonly random?: number | undefined;
}

interface Environment {
  readonly worker: Worker;
  hasEnded: boolean;
  /** The embedded AWS that uses the environment now. */
  onLine: (stream: OutputLine['stream'], text: string) => void;
}

/**
 * Execution environments that outlive their functions. An equal function takes one over, warm, as it would in Lambda.
 * So functions that share an environment keep its state from earlier invocations.
 */
export class IdleEnvironments {
  /** The most recently used ones are at the end. */
  #kept: { readonly key: string; readonly environment: Environment }[] = [];
  #mostKept: number;

  constructor(mostKept = 16) {
    this.#mostKept = mostKept;
  }

  take(key: string): Environment | undefined {
    this.#kept = this.#kept.filter(({ environment }) => !environment.hasEnded);
    const found = this.#kept.findLast((one) => one.key === key);
    this.#kept = this.#kept.filter((one) => one !== found);
    found?.environment.worker.ref();
    return found?.environment;
  }

  /** Adds an environment, and ends the one that was idle for longest if there are too many. */
  async keep(key: string, environment: Environment): Promise<void> {
    environment.worker.unref();
    this.#kept.push({ key, environment });
    await this.#endAllBut(this.#mostKept);
  }

  /** Ends all, also environments that come later. */
  async end(): Promise<void> {
    this.#mostKept = 0;
    await this.#endAllBut(0);
  }

  async #endAllBut(count: number): Promise<void> {
    const surplus = this.#kept.splice(0, Math.max(0, this.#kept.length - count));
    await Promise.all(surplus.map(({ environment }) => environment.worker.terminate()));
  }
}

/** The result of Lambda's Invoke: a payload, or `FunctionError` with its description. */
export type InvocationResult = { readonly requestId: string; readonly coldStart: boolean } & (
  | { readonly outcome: 'returned'; readonly payload: Json }
  | {
      readonly outcome: 'failed';
      readonly errorType: string;
      readonly errorMessage: string;
      readonly trace: readonly string[];
    }
);

export type ToEnvironment = { requestId: string; event: string; deadlineMs: number };
export type FromEnvironment =
  | { kind: 'ready' }
  | { kind: 'returned'; payload: string }
  | { kind: 'failed'; errorType: string; errorMessage: string; trace: string[] };

/** Lambda's limit for an initialization. */
const initLimitMs = 10_000;

/** The limit of a new account, for all its functions together. */
const accountConcurrency = 10;

/**
 * A Lambda function, as Lambda runs it: the bundle in its own isolate, with exactly the template's environment. It
 * stays warm between invocations, and ends when it times out.
 *
 * There is one execution environment. Lambda would start another for an invocation that finds it busy; here, the
 * invocation waits for its turn. It is throttled if the template's reserved concurrency, or an account's, is used up.
 * Not reproduced: the freeze between invocations, the limits of the file system, `TZ`.
 */
export class LocalFunction {
  readonly name: string;
  readonly arn: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly #plan: FunctionPlan;
  readonly #options: FunctionOptions;
  #environment: Environment | undefined;
  /** The running invocation and the waiting ones. */
  #invocations = 0;
  #last: Promise<unknown> = Promise.resolve();
  /** Whether all of its environments have survived. */
  #isSound = true;

  constructor(plan: FunctionPlan, options: FunctionOptions) {
    this.name = plan.name;
    this.arn = plan.arn;
    this.#plan = plan;
    this.#options = options;
    this.environment = environmentOf(plan, options);
  }

  /** Never rejects because of the function: an error, a time-out or a death is a `failed` result. */
  async invoke(event: Json = {}): Promise<InvocationResult> {
    const { reservedConcurrency = accountConcurrency } = this.#plan;
    if (this.#invocations >= reservedConcurrency)
      return {
        requestId: randomUUID(),
        coldStart: false,
        ...failed('TooManyRequestsException', 'Rate Exceeded.'),
      };
    // A free function starts at once, so that a kill right after this call meets the invocation.
    const isFree = this.#invocations === 0;
    this.#invocations += 1;
    const own = isFree ? this.#invoke(event) : this.#last.then(() => this.#invoke(event));
    this.#last = own.catch(() => {});
    try {
      return await own;
    } finally {
      this.#invocations -= 1;
    }
  }

  async #invoke(event: Json): Promise<InvocationResult> {
    const requestId = randomUUID();
    if (this.#environment?.hasEnded) this.#environment = undefined;
    const kept = this.#environment ?? this.#idle?.take(this.#key);
    const result = await this.#run(requestId, event, kept);
    return { requestId, coldStart: kept === undefined, ...result };
  }

  /** Whether an invocation is running now. */
  get isBusy(): boolean {
    return this.#invocations > 0;
  }

  /** Ends the process at once, in the middle of its work. The next invocation starts cold. */
  async kill(): Promise<void> {
    const environment = this.#environment;
    this.#environment = undefined;
    this.#isSound = false;
    await environment?.worker.terminate();
  }

  /** Gives the environment to the next function if it is sound, and ends it otherwise. */
  async leave(): Promise<void> {
    const idle = this.#idle;
    if (!idle || !this.#environment || this.isBusy) return this.kill();
    this.#environment.onLine = () => {};
    const environment = this.#environment;
    this.#environment = undefined;
    await idle.keep(this.#key, environment);
  }

  async #run(requestId: string, event: Json, kept: Environment | undefined) {
    const { worker } = this.#use(kept ?? this.#start());
    if (!kept) {
      const started = await this.#next(worker, requestId, initLimitMs);
      if (started.kind === 'failed') {
        await this.kill();
        return failed(started.errorType, started.errorMessage, started.trace);
      }
    }
    const limitMs = this.#plan.timeoutSeconds * 1000;
    const message: ToEnvironment = {
      requestId,
      event: JSON.stringify(event),
      deadlineMs: Date.now() + limitMs,
    };
    const answered = this.#next(worker, requestId, limitMs);
    worker.postMessage(message);
    const answer = await answered;
    if (answer.kind === 'returned') {
      const payload: Json = JSON.parse(answer.payload);
      return { outcome: 'returned' as const, payload };
    }
    return answer.kind === 'failed'
      ? failed(answer.errorType, answer.errorMessage, answer.trace)
      : failed('Runtime.Unknown', 'The environment started twice.');
  }

  /** The next message of the environment, or a failure if it ends or if none comes in time. */
  #next(worker: Worker, requestId: string, limitMs: number): Promise<FromEnvironment> {
    const { promise, resolve } = Promise.withResolvers<FromEnvironment>();
    const dead = (errorType: string, problem: string, trace: string[] = []) => {
      if (this.#environment?.worker === worker) this.#environment = undefined;
      this.#isSound = false;
      const errorMessage = `RequestId: ${requestId} Error: ${problem}`;
      resolve({ kind: 'failed', errorType, errorMessage, trace });
    };
    const onExit = (code: number) =>
      dead('Runtime.ExitError', `Runtime exited with error: exit status ${code}`);
    const onError = (error: unknown) =>
      error instanceof Error
        ? dead(error.name, error.message, error.stack?.split('\n'))
        : dead('Runtime.Unknown', String(error));
    const timer = setTimeout(async () => {
      dead('Sandbox.Timedout', `Task timed out after ${(limitMs / 1000).toFixed(2)} seconds`);
      await worker.terminate();
    }, limitMs);
    worker.once('message', resolve).once('exit', onExit).once('error', onError);
    return promise.finally(() => {
      clearTimeout(timer);
      worker.off('message', resolve).off('exit', onExit).off('error', onError);
    });
  }

  get #idle(): IdleEnvironments | undefined {
    return this.#isSound ? this.#options.idle : undefined;
  }

  /** Environments with the same key are interchangeable. */
  get #key(): string {
    return JSON.stringify([this.#plan, this.environment, this.#options.random]);
  }

  #use(environment: Environment): Environment {
    if (environment === this.#environment) return environment;
    const { name } = this.#plan;
    environment.onLine = (stream, text) => {
      const kind = text.includes('"_aws":{') ? 'metrics' : 'log';
      this.#options.onOutput?.({ functionName: name, stream, kind, text });
    };
    this.#environment = environment;
    return environment;
  }

  #start(): Environment {
    const { handler, name, arn, memoryMb, logging } = this.#plan;
    const separator = handler.lastIndexOf('.');
    const worker = new Worker(new URL('./function-worker.ts', import.meta.url), {
      env: { ...this.environment },
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      workerData: {
        modulePath: modulePath(this.#options.codeDirectory, handler.slice(0, separator)),
        exportName: handler.slice(separator + 1),
        random: this.#options.random,
        context: {
          callbackWaitsForEmptyEventLoop: true,
          functionName: name,
          functionVersion: '$LATEST',
          invokedFunctionArn: arn,
          memoryLimitInMB: String(memoryMb),
          logGroupName: logging.group,
          logStreamName: this.environment.AWS_LAMBDA_LOG_STREAM_NAME,
        },
      },
    });
    const environment: Environment = { worker, hasEnded: false, onLine: () => {} };
    for (const stream of ['stdout', 'stderr'] as const)
      createInterface({ input: worker[stream] }).on('line', (text) =>
        environment.onLine(stream, text),
      );
    // Without a listener, an error between two invocations would end the whole program.
    worker.on('error', () => {});
    worker.once('exit', () => {
      environment.hasEnded = true;
    });
    return environment;
  }
}

function failed(errorType: string, errorMessage: string, trace: readonly string[] = []) {
  return { outcome: 'failed' as const, errorType, errorMessage, trace };
}

function modulePath(directory: string, file: string): string {
  const path = ['.mjs', '.js', '.cjs'].map((ending) => join(directory, `${file}${ending}`));
  const found = path.find((candidate) => existsSync(candidate));
  if (found) return pathToFileURL(found).href;
  throw new AssemblyError(`The function's bundle holds no ${file}.mjs, ${file}.js or ${file}.cjs`);
}

/**
 * The template's variables, Lambda's own variables, and the endpoint variables of the SDK, so that no code in a bundle
 * has to know that it runs locally. The credentials open nothing: they tell a gate the name of the calling function. No
 * configuration file of the machine is read.
 */
function environmentOf(
  { environment, name, memoryMb, handler, logging }: FunctionPlan,
  { codeDirectory, region, endpoints }: FunctionOptions,
): Record<string, string> {
  return {
    ...environment,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: name,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_EXECUTION_ENV: `AWS_Lambda_nodejs${process.versions.node.split('.')[0]}.x`,
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: logging.group,
    AWS_LAMBDA_LOG_STREAM_NAME: '[$LATEST]local',
    AWS_LAMBDA_LOG_FORMAT: logging.format,
    ...(logging.level !== undefined && { AWS_LAMBDA_LOG_LEVEL: logging.level }),
    LAMBDA_TASK_ROOT: codeDirectory,
    _HANDLER: handler,
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_SNS: endpoints.sns,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secretsManager,
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    AWS_ENDPOINT_URL_KMS: endpoints.kms,
  };
}
