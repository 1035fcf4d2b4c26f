import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { Deployment, type DeploymentConfig } from '../scaffold/deployment.ts';
import { Gate, type Reply } from '../support/gate.ts';

const program = fileURLToPath(new URL('../../ops/cli.ts', import.meta.url));

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const answerSchema = z.looseObject({
  ok: z.boolean(),
  result: z.unknown().optional(),
  problem: z.looseObject({ code: z.string() }).optional(),
});

/** Somebody on duty, with the real program, in front of everything that is deployed. */
export class Duty {
  readonly stage = new Deployment();
  /** In front of what the program calls of AWS. */
  readonly lambda = new Gate();
  readonly cloudFormation = new Gate();
  readonly scheduler = new Gate();
  readonly #folder = mkdtempSync(join(tmpdir(), 'duty-'));
  /** Of the program. */
  environment: Record<string, string> = {};

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
    // What `npm start` leaves for other programs.
    const instance = {
      pid: process.pid,
      startedAt: '2026-11-21T08:00:00Z',
      aws: { region, endpoints, functions: {} },
    };
    writeFileSync(join(this.#folder, 'instance.json'), JSON.stringify(instance));
  }

  async strike(): Promise<void> {
    for (const gate of this.#gates) gate.reset();
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

  /** The program as somebody starts it, for the deployed stack. */
  run(
    args: string,
    options: { input?: string; env?: Record<string, string> } = {},
  ): Promise<Ended> {
    return this.runAnywhere(`${args} --stack ${this.stack}`, options);
  }

  runAnywhere(
    args: string,
    { input = '', env = {} }: { input?: string; env?: Record<string, string> } = {},
  ): Promise<Ended> {
    const child = this.start(args, env);
    child.stdin?.end(input);
    return ended(child);
  }

  start(args: string, env: Record<string, string> = {}): ChildProcess {
    return startProgram(args, { ...this.environment, ...env });
  }

  /** What it answers to machines. */
  async json(args: string, options?: { input?: string }) {
    const { stdout, exitCode } = await this.run(`${args} --json`, options);
    return { exitCode, ...answerSchema.parse(JSON.parse(stdout)) };
  }

  /** The gate's name for an invocation of the function that carries out commands. */
  get invocation(): string {
    return `/2015-03-31/functions/${this.stage.operate.name}/invocations`;
  }
}

/** Half of what a start takes is compiling. */
const compileCache = fileURLToPath(new URL('../../node_modules/.cache/ops', import.meta.url));

/** The program as a process of its own, with this environment and no other. */
export function startProgram(args: string, env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, [program, ...args.split(' ').filter(Boolean)], {
    env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: compileCache, ...env },
  });
}

export async function ended(child: ChildProcess): Promise<Ended> {
  const [stdout, stderr] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
    child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined,
  ]);
  return { exitCode: child.exitCode, stdout, stderr };
}

/** What a service of AWS answers when a policy does not allow it. */
export const denied: Reply = {
  status: 403,
  type: 'application/json',
  body: '{"__type":"AccessDeniedException","Message":"not authorized"}',
};

/** Without what is another with every run. */
export function masked(output: string): string {
  return (
    output
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '<url>')
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d E[SD]T/g, '<moment>')
      .replaceAll(/\d{4}-\d\d-\d\d/g, '<day>')
      .replaceAll(/<day>T[\d:.]+Z/g, '<instant>')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<uuid>')
      .replaceAll(/arn:aws:secretsmanager:[\w:-]+/g, '<secret>')
      .replaceAll(/(\d+ (d|h|min|s|ms) ?)+ ago|(?<=\(|days |history )now\b/g, '<ago>')
      .replaceAll(/in (\d+ (d|h|min|s|ms)\b ?)+/g, '<soon>')
      .replaceAll(/next any moment/g, 'next <soon>')
      .replaceAll(/is \d+ s (ahead|behind)/g, 'is <time> off')
      // One more when the token has run out or is not there yet.
      .replaceAll(/took( +)[^,]+, \d requests?/g, 'took$1<time>, <requests>')
  );
}

/** The approval file of a screen. */
export function approved(name: string): string {
  return fileURLToPath(new URL(`approved/${name}.txt`, import.meta.url));
}
