import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type CommandInput, contract, parseCommand } from '../../lambda/commands/contract.ts';
import { readAssembly } from '../../local/aws/assembly.ts';
import { Deployment, type DeploymentConfig, queues } from '../scaffold/deployment.ts';
import {
  compareRoles,
  type Permission,
  Requirements,
  type RoleOfFunction,
  rolesOfFunctions,
} from '../support/iam.ts';
import { refusedForGood } from './refusals.ts';

/**
 * Least privilege, measured: the deployed functions do all of their work here. Each of their calls
 * to AWS is noted with its caller, and compared with the roles of the template. A new ability of a
 * function needs a story here, or this test fails.
 */

/** Permissions that no call of the handlers uses, each for a reason. */
const excepted = [
  // Lambda itself writes a function's output.
  'logs:CreateLogStream',
  'logs:PutLogEvents',
];

/** The order gives each command something to do. */
function commandsFor({ aws, sandbox }: Deployment, eventQueues: readonly string[]): CommandInput[] {
  const [known] = sandbox.world.assessments();
  const today = new Date().toISOString().slice(0, 10);
  const days = { from: '2010-01-01', to: '2039-12-31' };
  // The allowed maximum.
  const replay = { command: 'replay', days, eventsPerSecond: 1_000 } as const;
  const selfCheck = aws.schedules.find(({ expression }) => expression.startsWith('cron'));
  const told: CommandInput[] = [
    { command: 'status', history: true },
    JSON.parse(selfCheck?.input ?? ''),
    { command: 'explain', id: known?.id ?? 1 },
    { command: 'explain', id: 999_999_999 },
    { command: 'holds' },
    { command: 'holds', waiting: 'undeliverable' },
    { command: 'release', as: 'digest', types: ['created'] },
    { command: 'release' },
    { command: 'discard', waiting: 'undeliverable' },
    { command: 'discard' },
    { command: 'prove', ...days },
    { command: 'prove', from: today, to: today, now: true },
    { command: 'pause', reason: 'the partner is being moved' },
    { command: 'resume' },
    { command: 'tick' },
    replay,
    ...eventQueues.map((queue) => ({ ...replay, baseline: true, to: { queue } })),
    { command: 'accept-total', total: sandbox.world.count },
    { command: 'restart-baseline', reason: 'a rehearsal' },
  ];
  // A new command that needs settings is refused here: it needs a line above.
  const others = Object.keys(contract).filter((name) => !told.some((one) => one.command === name));
  return [...told, ...others.map((command) => parseCommand({ command }))];
}

const holdAbove = 5;

function flood({ sandbox }: Deployment): void {
  for (let n = 0; n <= holdAbove; n++) sandbox.world.add();
}

/** A life of ticks with all that they may have to do. */
async function ticks(stage: Deployment): Promise<void> {
  const { world } = stage.sandbox;
  world.add();
  expect(await stage.completedTick()).toMatchObject({ outcome: 'baseline' });
  // Somebody new, and an edit.
  const { id } = world.add({ organization_id: stage.filtered });
  expect(await stage.completedTick()).toMatchObject({ created: 1, delivered: 1 });
  const elsewhere = world.catalogue.organizations.all.find((one) => one.id !== stage.filtered);
  world.change(id, { organization_id: elsewhere?.id ?? 0 });
  expect(await stage.completedTick()).toMatchObject({ updated: 1 });
  // Somebody who is gone and comes back, and somebody backdated.
  const [oldest] = world.assessments();
  world.remove(oldest?.id ?? 0);
  expect(await stage.completedTick()).toMatchObject({ withdrawn: 1 });
  world.restore(oldest?.id ?? 0);
  world.add({ certified_on: '2024-02-29' });
  expect(await stage.completedTick()).toMatchObject({ restored: 1, created: 1 });
  // Leftovers of a killed tick.
  world.add();
  stage.sns.once('PublishBatch', async () => {
    await stage.poll.kill();
    return undefined;
  });
  expect(await stage.tick()).toMatchObject({ outcome: 'failed' });
  await stage.leaseRunsOut();
  expect(await stage.completedTick()).toMatchObject({ delivered: 1 });
  // An event that SNS never takes.
  world.add();
  stage.sns.once('PublishBatch', refusedForGood);
  expect(await stage.completedTick()).toMatchObject({ undeliverable: 1 });
  flood(stage);
  expect(await stage.completedTick()).toMatchObject({ held: 6 });
  // Credentials that are refused, and mended.
  const { clientId, clientSecret } = stage.sandbox.rotateSecret();
  await stage.poll.kill();
  expect(await stage.tick()).toMatchObject({ outcome: 'failed' });
  await stage.backOffEnds();
  stage.fillSecret(JSON.stringify({ client_id: clientId, client_secret: clientSecret }));
  await stage.completedTick();
}

const answerSchema = z.looseObject({ ok: z.boolean() });
const keyOfSecrets = 'arn:aws:kms:us-east-1:000000000000:key/0b3a1c52-6f0e-4d0c-9a4b-1d2e3f405162';

interface Deployed {
  readonly name: string;
  readonly config: DeploymentConfig;
  /** The output with a queue that the stack makes. */
  readonly queueOutput?: string;
  readonly keyOfSecrets?: string;
}

const deployments: readonly Deployed[] = [
  {
    name: 'with a secret and a queue that the stack makes',
    config: {
      integration: { holdAbove },
      subscriptions: [{ topic: 'events', protocol: 'sqs', endpoint: { newQueue: 'payroll' } }],
    },
    queueOutput: 'QueueArnPayroll',
  },
  {
    name: "with somebody else's encrypted secret, a FIFO topic and chats",
    config: {
      topic: 'fifo',
      integration: {
        holdAbove,
        secretName: 'partner',
        secretKeyArn: keyOfSecrets,
      },
      subscriptions: (['alerts', 'operations'] as const).map((topic) => ({
        topic,
        protocol: 'slack',
        workspace: 'T0123WXYZ',
        channel: 'C0123WXYZ',
      })),
    },
    keyOfSecrets,
  },
];

it('a comparison finds the resource and the key that a role lacks, and the action and the key without a use', () => {
  const mine = { action: 'dynamodb:GetItem', resource: 'arn:table/a', keys: ['CERT#a#1'] };
  const granted = [
    { ...mine, keys: ['CERT#a#*', 'DAY#a'] },
    { ...mine, action: 'dynamodb:Put*' },
  ];
  const role = { functionName: 'poll', logicalId: 'Poll', granted };
  const ofAnother = { ...mine, keys: ['CERT#a#1', 'CERT#b#1'] };
  const elsewhere = { ...mine, resource: 'arn:table/b' };
  const asked = new Map([['poll', [mine, ofAnother, elsewhere]]]);
  expect(compareRoles([role], asked, [])).toEqual({
    missing: [ofAnother, elsewhere].map((one) => ({ of: 'poll', ...one })),
    unused: [{ ...mine, keys: ['DAY#a'] }, granted[1]].map((one) => ({ of: 'poll', ...one })),
  });
});

describe.each(deployments)('the roles $name', ({ config, ...deployment }) => {
  const asked = new Map<string, Permission[]>();
  const failed: unknown[] = [];
  let requirements: Requirements | undefined;
  const stage = new Deployment((call) => {
    try {
      const needed = requirements?.of(call) ?? [];
      asked.set(call.caller, [...(asked.get(call.caller) ?? []), ...needed]);
    } catch (error) {
      failed.push(error);
    }
  });
  let roles: readonly RoleOfFunction[] = [];

  beforeAll(async () => {
    await stage.build(config);
    await stage.raise();
    const { stackName, region, accountId, endpoints } = stage.aws;
    const { template } = readAssembly(stage.assembly);
    const place = { stackName, region, accountId, sqsEndpoint: endpoints.sqs };
    roles = rolesOfFunctions(template, place);
    requirements = new Requirements(template, place, deployment.keyOfSecrets);
    await ticks(stage);
    const { queueOutput } = deployment;
    const eventQueues = [
      queues.everything,
      queues.oneOrganization,
      ...(queueOutput === undefined ? [] : [stage.aws.output(queueOutput)]),
    ];
    const operate = async (command: CommandInput) => {
      const invocation = await stage.operate.invoke(z.json().parse(command));
      if (invocation.outcome === 'failed') throw new Error(JSON.stringify(invocation));
      const { ok } = answerSchema.parse(invocation.payload);
      if (!ok) failed.push([command, invocation.payload]);
    };
    for (const command of commandsFor(stage, eventQueues)) await operate(command);
    // All ticks of this deployment run by hand, including the very first one.
    await stage.strike();
    await stage.raise();
    stage.sandbox.world.add();
    await operate({ command: 'tick' });
    flood(stage);
    await operate({ command: 'tick' });
  }, 120_000);
  afterAll(async () => {
    await stage.strike();
    await stage.dismantle();
  });

  it('belong to functions that have all completed something here', () => {
    expect([...stage.aws.functions.keys()].sort()).toEqual([...asked.keys()].sort());
    expect(failed).toEqual([]);
  });

  it('allow all calls of the functions, and no call that no function makes', () => {
    expect(compareRoles(roles, asked, excepted)).toEqual({ missing: [], unused: [] });
  });

  it("reach no other integration's items, neither in a batch nor by an index", () => {
    const mine = /(?<=^|#)[a-z][a-z-]+(?=#|$)/;
    const ofAnother = (key: string) => key.replace(mine, (name) => `${name}-2`);
    const calls = [...asked].flatMap(([name, permissions]) =>
      permissions.flatMap(({ keys = [], ...call }) =>
        keys.slice(0, 1).map((key) => ({ name, call, key, keys })),
      ),
    );
    expect(calls.length).toBeGreaterThan(0);
    for (const { name, call, key, keys } of calls)
      for (const stolen of [[ofAnother(key)], [...keys, ofAnother(key)]]) {
        const theft = new Map([[name, [{ ...call, keys: stolen }]]]);
        const { missing } = compareRoles(roles, theft, excepted);
        expect(missing, `${call.action} of ${stolen.join(', ')}`).not.toEqual([]);
      }
  });
});
