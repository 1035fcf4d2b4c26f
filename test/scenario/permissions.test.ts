import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  type CommandInput,
  type CommandName,
  contract,
  parseCommand,
} from '../../lambda/operations/contract.ts';
import { readAssembly } from '../../local/aws/assembly.ts';
import { type StackPlace, type Template, templateSchema } from '../../local/aws/template.ts';
import { Deployment, type DeploymentConfig, queues } from '../scaffold/deployment.ts';
import { compareRoles, type Permission, Requirements, rolesOfFunctions } from '../support/iam.ts';

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

type Command = CommandInput;

/** Each command must be given with its name, so none is without a story. */
type Commands = {
  readonly [Name in CommandName]?: (
    stage: Deployment,
    eventQueues: readonly string[],
  ) => readonly Extract<Command, { readonly command: Name }>[];
};

/** The allowed maximum. */
const eventsPerSecond = 1_000;
const everything = { from: '2010-01-01', to: '2039-12-31' };
const today = () => new Date().toISOString().slice(0, 10);

const hasChats = ({ assembly }: Deployment) =>
  JSON.stringify(readAssembly(assembly).template).includes('CHAT_ALERTS_TOPIC_ARN');

/** The order gives each command something to do. All other commands follow without settings. */
const commands: Commands = {
  status: () => [{ command: 'status', history: true }],
  check: (stage, eventQueues) => [
    {
      command: 'check',
      note: true,
      subscriptions: [
        ...eventQueues.map((endpoint) => ({ topic: 'events' as const, endpoint })),
        ...(['alerts', 'operations'] as const).map((topic) => ({ topic, endpoint: '' })),
        ...(hasChats(stage)
          ? (['chat-alerts', 'chat-operations'] as const).map((topic) => ({ topic }))
          : []),
      ].map((one) => ({ ...one, protocol: 'sqs', name: 'a queue' })),
    },
  ],
  explain: (stage) => {
    const [known] = stage.sandbox.world.assessments();
    return [
      { command: 'explain', id: known?.id ?? 1 },
      { command: 'explain', id: 999_999_999 },
    ];
  },
  holds: () => [{ command: 'holds' }, { command: 'holds', waiting: 'undeliverable' }],
  release: () => [{ command: 'release', as: 'digest', types: ['created'] }, { command: 'release' }],
  discard: () => [{ command: 'discard', waiting: 'undeliverable' }, { command: 'discard' }],
  prove: () => [
    { command: 'prove', ...everything },
    { command: 'prove', from: today(), to: today(), now: true },
  ],
  pause: () => [{ command: 'pause', reason: 'the partner is being moved' }],
  resume: () => [{ command: 'resume' }],
  tick: () => [{ command: 'tick' }],
  replay: (_, eventQueues) => [
    { command: 'replay', days: everything, eventsPerSecond },
    ...eventQueues.map((queue) => ({
      command: 'replay' as const,
      days: everything,
      baseline: true,
      eventsPerSecond,
      to: { queue },
    })),
  ],
  'accept-total': (stage) => [{ command: 'accept-total', total: stage.sandbox.world.count }],
  'restart-baseline': () => [{ command: 'restart-baseline', reason: 'a rehearsal' }],
};

/** SNS's answer when it refuses one event for good. */
const refusedForGood = async () => ({
  status: 200,
  type: 'text/xml',
  body: `<PublishBatchResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishBatchResult>
    <Successful/><Failed><member><Id>0</Id><Code>InvalidParameter</Code><SenderFault>true</SenderFault>
    </member></Failed></PublishBatchResult></PublishBatchResponse>`,
});

const holdAbove = 5;

function flood({ sandbox }: Deployment): void {
  for (let n = 0; n <= holdAbove; n++) sandbox.world.add();
}

const planSchema = z.looseObject({ outcome: z.literal('ready'), left: z.array(z.json()) });

/** Runs the function of the state machine, if the deployment has one. */
async function fanOut(stage: Deployment): Promise<void> {
  const [tasks] = [...stage.aws.functions.values()].filter(({ name }) => name.includes('Baseline'));
  if (tasks === undefined) return;
  const carryOut = async (task: Parameters<typeof tasks.invoke>[0]) => {
    const invocation = await tasks.invoke(task);
    if (invocation.outcome === 'failed') throw new Error(JSON.stringify(invocation));
    return invocation.payload;
  };
  const { left } = planSchema.parse(await carryOut({ task: 'plan' }));
  for (const range of left) await carryOut({ task: 'read', atOnce: 4, range });
  await carryOut({ task: 'complete' });
}

/** Stories of ticks, in an order in which each finds the results of those before. */
const tickStories: Readonly<Record<string, (stage: Deployment) => Promise<unknown>>> = {
  'the baseline': async (stage) => {
    stage.sandbox.world.add();
    expect(await stage.completedTick()).toMatchObject({ outcome: 'baseline' });
    await fanOut(stage);
  },
  'somebody new, an edit': async (stage) => {
    const { world } = stage.sandbox;
    const { id } = world.add({ organization_id: stage.filtered });
    expect(await stage.completedTick()).toMatchObject({ created: 1, delivered: 1 });
    const elsewhere = world.organizations.find((one) => one.id !== stage.filtered);
    world.change(id, { organization_id: elsewhere?.id ?? 0 });
    expect(await stage.completedTick()).toMatchObject({ updated: 1 });
  },
  'somebody gone, somebody backdated': async (stage) => {
    const [oldest] = stage.sandbox.world.assessments();
    stage.sandbox.world.remove(oldest?.id ?? 0);
    expect(await stage.completedTick()).toMatchObject({ withdrawn: 1 });
    stage.sandbox.world.restore(oldest?.id ?? 0);
    stage.sandbox.world.add({ certified_on: '2024-02-29' });
    expect(await stage.completedTick()).toMatchObject({ restored: 1, created: 1 });
  },
  'what a killed tick could not deliver': async (stage) => {
    stage.sandbox.world.add();
    stage.sns.once('PublishBatch', async () => {
      await stage.poll.kill();
      return undefined;
    });
    expect(await stage.tick()).toMatchObject({ outcome: 'failed' });
    await stage.leaseRunsOut();
    expect(await stage.completedTick()).toMatchObject({ delivered: 1 });
  },
  'what SNS never takes': async (stage) => {
    stage.sandbox.world.add();
    stage.sns.once('PublishBatch', refusedForGood);
    expect(await stage.completedTick()).toMatchObject({ undeliverable: 1 });
  },
  'a flood': async (stage) => {
    flood(stage);
    expect(await stage.completedTick()).toMatchObject({ held: 6 });
  },
  'credentials refused, and mended': async (stage) => {
    const { clientId, clientSecret } = stage.sandbox.rotateSecret();
    await stage.poll.kill();
    expect(await stage.tick()).toMatchObject({ outcome: 'failed' });
    await stage.backOffEnds();
    stage.fillSecret(JSON.stringify({ client_id: clientId, client_secret: clientSecret }));
    await stage.completedTick();
  },
};

const answerSchema = z.looseObject({ ok: z.boolean() });

const keyOfSecrets = 'arn:aws:kms:us-east-1:000000000000:key/0b3a1c52-6f0e-4d0c-9a4b-1d2e3f405162';
const listOf = <Item extends z.ZodType>(item: Item) =>
  z.union([z.array(item), item.transform((one) => [one])]);
const ofKeys = z.strictObject({
  'ForAllValues:StringLike': z.strictObject({ 'dynamodb:LeadingKeys': listOf(z.string()) }),
});
const statementSchema = z.looseObject({
  Action: listOf(z.string()),
  Resource: listOf(z.json()),
  Condition: z.optional(z.union([ofKeys, z.looseObject({})])),
});
type Statement = z.output<typeof statementSchema>;

/** Partition keys that a statement allows. */
function keysIn({ Condition }: Statement): readonly string[] {
  const { data } = ofKeys.safeParse(Condition);
  return data?.['ForAllValues:StringLike']['dynamodb:LeadingKeys'] ?? [];
}

function withKeys(statement: Statement, keys: readonly string[]): Statement {
  const allowed = { 'dynamodb:LeadingKeys': [...keys] };
  return { ...statement, Condition: { 'ForAllValues:StringLike': allowed } };
}
const functionRole = z.looseObject({
  AssumeRolePolicyDocument: z
    .json()
    .refine((document) => JSON.stringify(document).includes('"lambda.amazonaws.com"')),
  Policies: z
    .tuple([
      z.looseObject({ PolicyDocument: z.looseObject({ Statement: z.array(statementSchema) }) }),
    ])
    .transform(([{ PolicyDocument }]) => PolicyDocument.Statement),
});

/** Each statement of each role of functions. */
function statementsIn(template: Template) {
  return Object.entries(template.Resources).flatMap(([role, { Properties }]) => {
    const { data: { Policies: statements = [] } = {} } = functionRole.safeParse(Properties);
    return statements.map((statement, index) => ({ role, index, statement }));
  });
}

/** The template with another statement in place of one of a role's, or without it. */
function changed(
  template: Template,
  role: string,
  index: number,
  to: z.output<typeof statementSchema> | undefined,
): Template {
  const { Policies } = functionRole.parse(template.Resources[role]?.Properties);
  const Statement = Policies.toSpliced(index, 1, ...(to ? [to] : []));
  const resource = template.Resources[role];
  const Properties = { ...resource?.Properties, Policies: [{ PolicyDocument: { Statement } }] };
  return templateSchema.parse({
    ...template,
    Resources: { ...template.Resources, [role]: { ...resource, Properties } },
  });
}

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
    name: "with somebody else's encrypted secret, a FIFO topic, a state machine for the baseline and chats",
    config: {
      topic: 'fifo',
      integration: {
        holdAbove,
        baseline: 'fan-out',
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

/** @throws CommandInvalidError: it needs settings, and so a story */
const withoutStory = () =>
  Object.keys(contract)
    .filter((command) => !Object.hasOwn(commands, command))
    .map((command) => parseCommand({ command }));

it('each command has a story here, or needs none', () => {
  expect(withoutStory).not.toThrow();
});

describe.each(deployments)('the roles $name', ({ config, ...deployment }) => {
  const asked = new Map<string, Permission[]>();
  const untold: unknown[] = [];
  const failed: unknown[] = [];
  let requirements: Requirements | undefined;
  const stage = new Deployment((call) => {
    try {
      const needed = requirements?.of(call) ?? [];
      asked.set(call.caller, [...(asked.get(call.caller) ?? []), ...needed]);
    } catch (error) {
      untold.push(error);
    }
  });
  let template = templateSchema.parse({ Resources: {} });
  let place: StackPlace | undefined;

  /** The recorded calls, compared with the roles of a template. */
  const compared = (of: Template) => comparedWith(of, asked);
  const comparedWith = (of: Template, calls: typeof asked) => {
    if (place === undefined) throw new Error('nothing is deployed');
    return compareRoles(rolesOfFunctions(of, place), calls, excepted);
  };

  beforeAll(async () => {
    await stage.build(config);
    await stage.raise();
    const { stackName, region, accountId, endpoints } = stage.aws;
    ({ template } = readAssembly(stage.assembly));
    place = { stackName, region, accountId, sqsEndpoint: endpoints.sqs };
    requirements = new Requirements(template, place, deployment.keyOfSecrets);
    for (const story of Object.values(tickStories)) await story(stage);
    const { queueOutput } = deployment;
    const eventQueues = [
      queues.everything,
      queues.oneOrganization,
      ...(queueOutput === undefined ? [] : [stage.aws.output(queueOutput)]),
    ];
    const operate = async (command: Command) => {
      const invocation = await stage.operate.invoke(z.json().parse(command));
      if (invocation.outcome === 'failed') throw new Error(JSON.stringify(invocation));
      const { ok } = answerSchema.parse(invocation.payload);
      if (!ok) failed.push([command, invocation.payload]);
    };
    for (const story of Object.values(commands))
      for (const command of story(stage, eventQueues)) await operate(command);
    for (const command of withoutStory()) await operate(command);
    // All ticks of this deployment run by hand, including the very first one.
    await stage.strike();
    await stage.raise();
    stage.sandbox.world.add();
    await operate({ command: 'tick' });
    await fanOut(stage);
    flood(stage);
    await operate({ command: 'tick' });
  }, 120_000);
  afterAll(async () => {
    await stage.strike();
    await stage.dismantle();
  });

  it('belong to functions that have all done something here', () => {
    expect([...stage.aws.functions.keys()].sort()).toEqual([...asked.keys()].sort());
    expect(untold).toEqual([]);
  });

  it('belong to functions that have completed their commands', () => {
    expect(failed).toEqual([]);
  });

  it('allow all calls of the functions', () => {
    expect(compared(template).missing).toEqual([]);
  });

  it('allow no call that no function makes', () => {
    expect(compared(template).unused).toEqual([]);
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
        const { missing } = comparedWith(template, new Map([[name, [{ ...call, keys: stolen }]]]));
        expect(missing, `${call.action} of ${stolen.join(', ')}`).not.toEqual([]);
      }
  });

  it('allow no request without an item', () => {
    const scans = ['Scan', 'ExecuteStatement', 'PartiQLSelect', 'ExportTableToPointInTime'];
    const granted = statementsIn(template).flatMap(({ statement }) => statement.Action);
    for (const action of scans) expect(granted).not.toContain(`dynamodb:${action}`);
  });

  it('are too narrow without any one of their keys', () => {
    const limited = statementsIn(template).flatMap(({ role, index, statement }) =>
      keysIn(statement).map((key) => ({ role, index, statement, key })),
    );
    expect(limited.length).toBeGreaterThan(0);
    for (const { role, index, statement, key } of limited) {
      const rest = keysIn(statement).filter((one) => one !== key);
      const narrower = changed(template, role, index, withKeys(statement, rest));
      expect(compared(narrower).missing, `${role} without ${key}`).not.toEqual([]);
      const wider = changed(template, role, index, withKeys(statement, [...rest, key, 'CERT#z#*']));
      expect(compared(wider).unused, `${role} with more than ${key}`).not.toEqual([]);
    }
  });

  it('are too narrow without any one of their actions', () => {
    const actions = statementsIn(template).flatMap(({ role, index, statement }) =>
      statement.Action.map((action) => ({ role, index, statement, action })),
    );
    for (const { role, index, statement, action } of actions) {
      if (excepted.includes(action)) continue;
      const rest = statement.Action.filter((one) => one !== action);
      const narrower = rest.length > 0 ? { ...statement, Action: rest } : undefined;
      const { missing } = compared(changed(template, role, index, narrower));
      expect(missing, `${role} without ${action}`).not.toEqual([]);
    }
  });

  it('are too wide with one action or one resource more', () => {
    for (const { role, index, statement } of statementsIn(template)) {
      if (statement.Action.every((action) => excepted.includes(action))) continue;
      const [service] = statement.Action[0]?.split(':') ?? [];
      const more = [
        { ...statement, Action: [...statement.Action, `${service}:TagResource`] },
        { ...statement, Resource: [...statement.Resource, 'arn:aws:sns:us-east-1:1:elsewhere'] },
      ];
      for (const wider of more)
        expect(compared(changed(template, role, index, wider)).unused, role).not.toEqual([]);
    }
  });
});
