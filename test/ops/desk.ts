import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import * as z from 'zod';
import { pascalCase, stackOutputs } from '../../infra/output-names.ts';
import { Gate, type Reply, type Rule, type ServiceCall } from '../../local/aws/gate.ts';
import { Integration } from '../scaffold/integration.ts';
import { assessment } from '../support/assessments.ts';
import type { Ended, RunOptions } from '../support/running.ts';
import { ProgramRunner } from './program-runner.ts';

export const credentials = { accessKeyId: 'duty', secretAccessKey: 'duty' };
export const me = 'arn:aws:iam::111122223333:user/odile';

export const json = (status: number, body: object): Reply => ({
  status,
  type: 'application/json',
  body: JSON.stringify(body),
});
/** The answer of an AWS service if a policy does not allow the call. */
export const denied = json(403, { __type: 'AccessDeniedException', Message: 'not authorized' });
/** AWS does not start the function now. */
export const notStarted = json(429, { __type: 'TooManyRequestsException' });

/** A rule for calls of one operation, or of operations that have this in their names. */
export const answering =
  (part: string, reply?: Reply): Rule =>
  async ({ operation, forward }) =>
    operation.includes(part) ? reply : forward();

const xml = (status: number, body: string): Reply => ({ status, type: 'text/xml', body });
export function xmlError(code: string, status = 403): Reply {
  const error = `<Error><Code>${code}</Code><Message>no</Message></Error>`;
  return xml(status, `<ErrorResponse>${error}</ErrorResponse>`);
}

/**
 * The command line in front of integrations in memory. Of AWS there are only the called operations.
 * Each integration carries out its commands as the operate function does.
 */
export class Desk extends ProgramRunner {
  readonly stack = 'prod';
  /** The gate to the functions, and the gate to all other services. */
  readonly lambda = new Gate();
  readonly aws = new Gate();
  /** The services behind them. */
  readonly #services = new Gate();
  stories: Integration[] = [];
  /** The values that were put into the secrets. */
  readonly secrets: string[] = [];
  /** Outputs of the stack in place of the usual ones. */
  outputs: Readonly<Record<string, string>> = {};
  /** The endpoints of SNS and SQS. */
  messaging = { sns: '', sqs: '' };
  #endpoints = { lambda: '', aws: '' };

  async open(): Promise<void> {
    this.#services.always((call) => this.#answer(call));
    const target = await this.#services.open();
    for (const gate of [this.lambda, this.aws]) gate.target = target;
    this.#endpoints = { lambda: await this.lambda.open(), aws: await this.aws.open() };
  }

  async close(): Promise<void> {
    await Promise.all([this.lambda, this.aws, this.#services].map((gate) => gate.close()));
  }

  /** New integrations, each with this past; all gates are open. */
  async begin(prepare?: (story: Integration) => unknown, count = 1): Promise<void> {
    this.lambda.forget();
    this.aws.forget();
    this.secrets.length = 0;
    this.outputs = {};
    this.stories = Array.from({ length: count }, () => new Integration());
    for (const story of this.stories) await prepare?.(story);
  }

  get story(): Integration {
    const [story] = this.stories;
    if (story === undefined) throw new Error('begin first');
    return story;
  }

  /** The commands on record of the first integration, newest first. */
  async history() {
    const { result } = await this.json(
      `status --history --no-partner --integration ${this.story.name}`,
    );
    return z.tuple([z.looseObject({ history: z.array(z.unknown()) })]).parse(result)[0].history;
  }

  /** Changes the next call of the first integration's function. */
  nextCall(rule: Rule): void {
    this.lambda.once(`/2015-03-31/functions/${this.story.name}/invocations`, rule);
  }

  /** Functions answer with these results, one call after another. @returns the calls */
  answers(...results: readonly object[]): ServiceCall[] {
    const calls: ServiceCall[] = [];
    this.lambda.always(async (call) => {
      const result = results[calls.length];
      calls.push(call);
      return json(200, { ok: true, result });
    });
    return calls;
  }

  /** Runs a command, and presses Ctrl-C while the function is at this call, counted from 1. */
  async interrupted(args: string, { call = 1, input = '' } = {}): Promise<Ended> {
    const program = this.start(args);
    program.input.end(input);
    const { promise: isCarriedOut, resolve } = Promise.withResolvers<void>();
    let calls = 0;
    this.lambda.always(async ({ forward }) => {
      calls += 1;
      if (calls < call) return forward();
      program.interrupt();
      // The program ends at once. The function continues.
      await program.ended;
      return forward().finally(resolve);
    });
    const ended = await program.ended;
    expect(calls).toBe(call);
    await isCarriedOut;
    this.lambda.reset();
    return ended;
  }

  outside(env: Readonly<Record<string, string>>): RunOptions {
    return {
      environment: { TZ: 'America/New_York', NO_COLOR: '1', ...env },
      clock: this.story.clock,
      aws: (service, { region = 'us-east-1' }) => {
        const { aws, ...others } = { ...this.#endpoints, ...this.messaging };
        const endpoint = new Map(Object.entries(others)).get(service) ?? aws;
        return { region, endpoint, credentials };
      },
    };
  }

  async #answer({ operation, body }: ServiceCall): Promise<Reply> {
    const [, invoked] = /\/functions\/(.*)\/invocations/.exec(operation) ?? [];
    if (invoked !== undefined) {
      const story = this.stories.find(({ name }) => name === invoked);
      if (story === undefined) return json(404, { __type: 'ResourceNotFoundException' });
      return json(200, await story.operate(JSON.parse(body)));
    }
    if (operation.startsWith('/schedules/'))
      return json(200, { State: 'ENABLED', ScheduleExpression: 'rate(1 minute)' });
    if (operation === 'DescribeStacks')
      return new URLSearchParams(body).get('StackName') === this.stack
        ? result(operation, described(this.#outputs))
        : xmlError('ValidationError', 400);
    if (operation === 'GetCallerIdentity') return result(operation, `<Arn>${me}</Arn>`);
    this.secrets.push(z.object({ SecretString: z.string() }).parse(JSON.parse(body)).SecretString);
    return json(200, {});
  }

  get #outputs(): Readonly<Record<string, string>> {
    const names = this.stories.map(({ name }) => name);
    const ofEach = names.map((name) => ({
      [stackOutputs.operateFunction(name)]: name,
      [stackOutputs.schedule(name)]: `${pascalCase(name)}Ticks`,
      [stackOutputs.selfCheck(name)]: `${pascalCase(name)}SelfCheck`,
      [stackOutputs.secret(name)]: 'secret',
    }));
    return {
      [stackOutputs.integrations]: names.join(','),
      [stackOutputs.eventsTopic]: 'events',
      [stackOutputs.alertsTopic]: 'alerts',
      [stackOutputs.operationsTopic]: 'operations',
      ...Object.assign({}, ...ofEach),
      ...this.outputs,
    };
  }
}

const result = (action: string, body: string) =>
  xml(200, `<${action}Response><${action}Result>${body}</${action}Result></${action}Response>`);

function described(outputs: Readonly<Record<string, string>>): string {
  const members = Object.entries(outputs)
    .map(([key, value]) => `<OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue>`)
    .map((output) => `<member>${output}</member>`);
  const stack = `<StackName>prod</StackName><Outputs>${members.join('')}</Outputs>`;
  return `<Stacks><member>${stack}</member></Stacks>`;
}

/** Opens a desk for a file. Each test begins with integrations of this past. */
export function desk(prepare?: (story: Integration) => unknown, count?: number): Desk {
  const one = new Desk();
  beforeAll(() => one.open());
  beforeEach(() => one.begin(prepare, count));
  afterAll(() => one.close());
  return one;
}

/** An integration that is up to date, with three certifications. */
export async function settled(story: Integration): Promise<void> {
  await story.passSelfChecks();
  story.add(
    ...[48_001, 48_002, 48_003].map((id) => assessment({ id, certified_on: '2026-11-18' })),
  );
  await story.baseline();
}

/** Three announced certifications more, which a subscriber could have missed. */
export async function announced(story: Integration): Promise<void> {
  await settled(story);
  story.add(...[11, 12, 13].map((id) => assessment({ id, certified_on: `2026-11-${id + 7}` })));
  await story.minute();
  expect(story.heard).toHaveLength(3);
}

/** Three certifications of 2019 more, which are more than the limit: they are held. */
export async function flooded(story: Integration): Promise<void> {
  story.settings = { holdAbove: 2 };
  await settled(story);
  const certified_on = '2019-05-06';
  story.add(...[21, 22, 23].map((id) => assessment({ id, organization_id: 7, certified_on })));
  expect(await story.minute()).toMatchObject({ held: 3 });
}
