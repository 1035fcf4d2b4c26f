import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { systemClock } from '../../lambda/clock.ts';
import { Gate } from '../../local/aws/gate.ts';
import type { AskedOfAws, EnvironmentVariables, OpsHost } from '../../ops/host.ts';
import type { AwsService, ClientSettings } from '../../ops/target/access.ts';
import { Deployment, type DeploymentConfig } from '../scaffold/deployment.ts';
import { Screen } from '../support/running.ts';
import { HastyClock } from './hasty-clock.ts';
import { ProgramRunner } from './program-runner.ts';

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

/** A person on call, with the program in this process and the whole deployment behind it. */
export class Duty extends ProgramRunner {
  readonly stage = new Deployment();
  /** The gate between the program and AWS. */
  readonly lambda = new Gate();
  readonly cloudFormation = new Gate();
  readonly scheduler = new Gate();
  readonly #folder = mkdtempSync(join(tmpdir(), 'duty-'));
  /** The environment of the program. A separate process with it finds the same. */
  readonly environment: Record<string, string> = {
    TZ: 'America/New_York',
    NO_COLOR: '1',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'duty',
    AWS_SECRET_ACCESS_KEY: 'duty',
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    NOTIFIER_LOCAL: this.#folder,
  };
  clock = new HastyClock();

  build(config?: DeploymentConfig): Promise<void> {
    return this.stage.build(config);
  }

  async raise(): Promise<void> {
    this.clock = new HastyClock();
    await this.stage.raise();
    const { endpoints, region } = this.stage.aws;
    const behind = (gate: Gate, service: 'lambda' | 'cloudFormation' | 'scheduler') => {
      gate.target = endpoints[service];
      return gate.open();
    };
    Object.assign(this.environment, {
      AWS_ENDPOINT_URL_LAMBDA: await behind(this.lambda, 'lambda'),
      AWS_ENDPOINT_URL_CLOUDFORMATION: await behind(this.cloudFormation, 'cloudFormation'),
      AWS_ENDPOINT_URL_SCHEDULER: await behind(this.scheduler, 'scheduler'),
      AWS_ENDPOINT_URL_STS: endpoints.sts,
      AWS_ENDPOINT_URL_SNS: endpoints.sns,
      AWS_ENDPOINT_URL_SQS: endpoints.sqs,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secretsManager,
    });
    // The file that `npm start` leaves for other programs.
    const aws = { region, endpoints, functions: {} };
    const instance = { pid: process.pid, startedAt: '2026-11-21T08:00:00Z', aws };
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

  /** The parts of a process for another program than the command line, with a running clock. */
  host(): OpsHost {
    const { environment } = this;
    const unseen = new Screen(false);
    return {
      streams: { input: Readable.from([]), output: unseen, errors: unseen },
      environment,
      timeZone: environment.TZ ?? 'UTC',
      stopping: new AbortController(),
      clock: systemClock,
      aws: foundIn(environment),
    };
  }

  outside(env: Readonly<Record<string, string>>) {
    const environment = { ...this.environment, ...env };
    return { environment, clock: this.clock, aws: foundIn(environment) };
  }

  /** The gate's name for an invocation of the operate function. */
  get invocation(): string {
    return `/2015-03-31/functions/${this.stage.operate.name}/invocations`;
  }
}

/** One deployment for all tests of a block. None of them changes data that another one reads. */
export function raisedOnce(duty: Duty, prepare: () => Promise<unknown>): void {
  beforeAll(async () => {
    await duty.raise();
    await prepare();
  });
  afterEach(() => duty.reset());
  afterAll(() => duty.strike());
}
