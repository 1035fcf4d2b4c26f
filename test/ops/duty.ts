import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import * as z from 'zod';
import { type Clock, systemClock } from '../../lambda/clock.ts';
import { Gate, type Reply } from '../../local/aws/gate.ts';
import type { AskedOfAws, EnvironmentVariables, OpsHost } from '../../ops/host.ts';
import type { AwsService, ClientSettings } from '../../ops/target/access.ts';
import { Deployment, type DeploymentConfig } from '../scaffold/deployment.ts';
import type { Ended, Screen } from '../support/running.ts';
import { HastyClock } from './hasty-clock.ts';
import { Running } from './running.ts';

/** The names of services in the environment of AWS's SDK. */
const endpointNames: Readonly<Record<AwsService, string>> = {
  cloudFormation: 'CLOUDFORMATION',
  lambda: 'LAMBDA',
  scheduler: 'SCHEDULER',
  secretsManager: 'SECRETS_MANAGER',
  sns: 'SNS',
  sqs: 'SQS',
  sts: 'STS',
};

/** The settings that AWS's SDK finds by itself in the environment of a process. */
const foundIn =
  (environment: EnvironmentVariables) =>
  (service: AwsService, { region = environment.AWS_REGION }: AskedOfAws): ClientSettings => ({
    ...(region !== undefined && { region }),
    endpoint: environment[`AWS_ENDPOINT_URL_${endpointNames[service]}`] ?? '',
    credentials: {
      accessKeyId: environment.AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: environment.AWS_SECRET_ACCESS_KEY ?? '',
    },
  });

interface StartOptions {
  readonly env: Record<string, string>;
  /** Whether its streams are a terminal. */
  readonly isTTY: boolean;
  readonly clock: Clock;
  readonly output: Screen;
}

const answerSchema = z.looseObject({
  ok: z.boolean(),
  result: z.unknown().optional(),
  problem: z.looseObject({ code: z.string() }).optional(),
});

/** A person on call, with the program in this process and the whole deployment behind it. */
export class Duty {
  readonly stage = new Deployment();
  /** The gate between the program and AWS. */
  readonly lambda = new Gate();
  readonly cloudFormation = new Gate();
  readonly scheduler = new Gate();
  readonly #folder = mkdtempSync(join(tmpdir(), 'duty-'));
  /** The environment of the program. A separate process with it finds the same. */
  environment: Record<string, string> = {};
  clock = new HastyClock();

  async build(config?: DeploymentConfig): Promise<void> {
    await this.stage.build(config);
    const endpoints = {
      lambda: await this.lambda.open(),
      cloudFormation: await this.cloudFormation.open(),
      scheduler: await this.scheduler.open(),
    };
    this.environment = {
      TZ: 'America/New_York',
      NO_COLOR: '1',
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'duty',
      AWS_SECRET_ACCESS_KEY: 'duty',
      AWS_CONFIG_FILE: devNull,
      AWS_SHARED_CREDENTIALS_FILE: devNull,
      AWS_ENDPOINT_URL_LAMBDA: endpoints.lambda,
      AWS_ENDPOINT_URL_CLOUDFORMATION: endpoints.cloudFormation,
      AWS_ENDPOINT_URL_SCHEDULER: endpoints.scheduler,
      NOTIFIER_LOCAL: this.#folder,
    };
  }

  async raise(): Promise<void> {
    this.clock = new HastyClock();
    await this.stage.raise();
    const { endpoints, region } = this.stage.aws;
    this.lambda.target = endpoints.lambda;
    this.cloudFormation.target = endpoints.cloudFormation;
    this.scheduler.target = endpoints.scheduler;
    Object.assign(this.environment, {
      AWS_ENDPOINT_URL_STS: endpoints.sts,
      AWS_ENDPOINT_URL_SNS: endpoints.sns,
      AWS_ENDPOINT_URL_SQS: endpoints.sqs,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secretsManager,
    });
    // The file that `npm start` leaves for other programs.
    const instance = {
      pid: process.pid,
      startedAt: '2026-11-21T08:00:00Z',
      aws: { region, endpoints, functions: {} },
    };
    writeFileSync(join(this.#folder, 'instance.json'), JSON.stringify(instance));
  }

  /** Opens all gates again. */
  reset(): void {
    const { partner, sns, dynamodb } = this.stage;
    for (const gate of [...this.#gates, partner, sns, dynamodb]) gate.reset();
  }

  async strike(): Promise<void> {
    this.reset();
    await this.stage.strike();
  }

  async dismantle(): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true });
    await Promise.all(this.#gates.map((gate) => gate.close()));
    await this.stage.dismantle();
  }

  get #gates(): readonly Gate[] {
    return [this.lambda, this.cloudFormation, this.scheduler];
  }

  get stack(): string {
    return this.stage.aws.stackName;
  }

  /** Runs the program for the deployed stack. */
  run(
    args: string,
    options: { input?: string; env?: Record<string, string> } = {},
  ): Promise<Ended> {
    return this.runAnywhere(this.#here(args), options);
  }

  runAnywhere(
    args: string,
    { input = '', env = {} }: { input?: string; env?: Record<string, string> } = {},
  ): Promise<Ended> {
    const program = this.#running(args, { env });
    program.input.end(input);
    return program.ended;
  }

  /** Starts the program, for actions before its end. Its standard input stays open. */
  start(args: string, options: Partial<StartOptions> = {}): Running {
    return this.#running(this.#here(args), options);
  }

  /** The parts of a process for another program than the command line, with a running clock. */
  host(): OpsHost {
    const { environment } = this;
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    return {
      streams: { input: Readable.from([]), output: nowhere, errors: nowhere },
      environment,
      timeZone: environment.TZ ?? 'UTC',
      stopping: new AbortController(),
      clock: systemClock,
      aws: foundIn(environment),
    };
  }

  #running(
    args: string,
    { env = {}, clock = this.clock, ...rest }: Partial<StartOptions>,
  ): Running {
    const environment = { ...this.environment, ...env };
    return new Running(args, { ...rest, environment, clock, aws: foundIn(environment) });
  }

  #here(args: string): string {
    return `${args} --stack ${this.stack}`;
  }

  /** Runs the program for its JSON. */
  async json(args: string, options?: { input?: string }) {
    const { stdout, exitCode } = await this.run(`${args} --json`, options);
    return { exitCode, ...answerSchema.parse(JSON.parse(stdout)) };
  }

  /** The gate's name for an invocation of the operate function. */
  get invocation(): string {
    return `/2015-03-31/functions/${this.stage.operate.name}/invocations`;
  }
}

type Prepare = () => Promise<unknown>;
const nothing: Prepare = async () => {};

/** One deployment for all tests of a block. None of them changes data that another one reads. */
export function raisedOnce(duty: Duty, prepare: Prepare = nothing): void {
  beforeAll(async () => {
    await duty.raise();
    await prepare();
  });
  afterEach(() => duty.reset());
  afterAll(() => duty.strike());
}

/** A deployment for each test of a block. */
export function raisedEach(duty: Duty, prepare: Prepare = nothing): void {
  beforeEach(async () => {
    await duty.raise();
    await prepare();
  });
  afterEach(() => duty.strike());
}

/** The answer of an AWS service if a policy does not allow the call. */
export const denied: Reply = {
  status: 403,
  type: 'application/json',
  body: '{"__type":"AccessDeniedException","Message":"not authorized"}',
};

/** Masks values that differ with each run. */
export function masked(output: string): string {
  return (
    output
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '<url>')
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d E[SD]T/g, '<moment>')
      .replaceAll(/\d{4}-\d\d-\d\d/g, '<day>')
      .replaceAll(/<day>T[\d:.]+Z/g, '<instant>')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<uuid>')
      .replaceAll(/arn:aws:secretsmanager:[\w:-]+/g, '<secret>')
      .replaceAll(/(\d+ (d|h|min|s|ms) ?)+ ago|(?<=\(|proof {4})now\b/g, '<ago>')
      .replaceAll(/in (\d+ (d|h|min|s|ms)\b ?)+/g, '<soon>')
      .replaceAll(/next any moment/g, 'next <soon>')
      .replaceAll(/is \d+ s (ahead|behind)/g, 'is <time> off')
      // There is one request more when the token has run out or does not exist yet.
      .replaceAll(/took( +)[^,]+, \d requests?/g, 'took$1<time>, <requests>')
  );
}

/** The approval file of a screen. */
export function approved(name: string): string {
  return fileURLToPath(new URL(`approved/${name}.txt`, import.meta.url));
}
