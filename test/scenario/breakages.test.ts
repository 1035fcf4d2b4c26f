import { DeleteTableCommand, DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import {
  DeleteTopicCommand,
  ListSubscriptionsByTopicCommand,
  SNSClient,
  UnsubscribeCommand,
} from '@aws-sdk/client-sns';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ledgerTable } from '../../lambda/names.ts';
import { integration } from '../scaffold/deployment.ts';
import { metricName } from '../support/cloud-watch.ts';
import type { Reply, Rule } from '../support/gate.ts';
import { json, xml } from '../support/taken-away.ts';
import { OnCall, type Way } from './on-call.ts';

/**
 * Prepared breakages of what is deployed: each reaches people on call, with its cause and what mends it. What was
 * measured is docs/breakages.md.
 */

interface Breakage {
  /** What somebody has done, or what has happened. */
  readonly what: string;
  readonly breaks: () => unknown;
  /** How people on call hear of it; nothing that is sent may be missing here. */
  readonly hears: readonly Way[];
  /** The cause, in words that they are told, or that the log has to which they are led. */
  readonly says: RegExp;
  /** A command, a place in the runbook, or whom to ask. */
  readonly mends: RegExp;
  /** It shows with the first tick only. */
  readonly isNew?: true;
}

const onCall = new OnCall();
const { duty } = onCall;
const { stage } = duty;
beforeAll(() =>
  onCall.build({
    records: 6,
    subscriptions: [{ topic: 'events', protocol: 'sqs', endpoint: { newQueue: 'payroll' } }],
  }),
);
afterAll(() => duty.dismantle());
afterEach(() => onCall.strike());

const quarterOfAnHour = 18;

const refusesAll =
  (reply: Reply): Rule =>
  async () =>
    reply;
const dynamodb = () => new DynamoDBClient(stage.aws.clientConfig('dynamodb'));
const sns = () => new SNSClient(stage.aws.clientConfig('sns'));
const beginAnew = () => Promise.all([...stage.aws.functions.values()].map((one) => one.kill()));

async function deleteTable(): Promise<void> {
  const [TableName] = stage.aws.tables;
  await dynamodb().send(new DeleteTableCommand({ TableName }));
}

async function deleteTopic(output: string): Promise<void> {
  await sns().send(new DeleteTopicCommand({ TopicArn: stage.aws.output(output) }));
}

async function unsubscribe(output: string): Promise<void> {
  const TopicArn = stage.aws.output(output);
  const { Subscriptions = [] } = await sns().send(
    new ListSubscriptionsByTopicCommand({ TopicArn }),
  );
  for (const { SubscriptionArn } of Subscriptions)
    await sns().send(new UnsubscribeCommand({ SubscriptionArn }));
}

/** Pending: nobody follows the link. */
async function subscribeMail(output: string): Promise<void> {
  stage.sns.always(async ({ operation, forward, body }) => {
    const reply = await forward();
    if (operation !== 'GetTopicAttributes' || !body.includes(output.slice(0, 6))) return reply;
    const pending = '<entry><key>SubscriptionsPending</key><value>1</value></entry>';
    return { ...reply, body: reply.body.replace('</Attributes>', `${pending}</Attributes>`) };
  });
}

async function spoilState(): Promise<void> {
  const [TableName] = stage.aws.tables;
  await dynamodb().send(
    new UpdateItemCommand({
      TableName,
      Key: { [ledgerTable.partitionKey]: { S: `STATE#${integration}` } },
      UpdateExpression: 'SET expected = :text',
      ExpressionAttributeValues: { ':text': { S: 'many' } },
    }),
  );
}

/** What SNS counts of its topic by itself, once in every minute. */
const snsCounts = (metric: string, output: string) => () => {
  const topic = stage.aws.output(output).split(':').at(-1) ?? '';
  onCall.around.counted.push({
    metric: metricName('AWS/SNS', metric, [['TopicName', topic]]),
    value: 1,
  });
};

const answersSchedule = (reply: Reply) => () => {
  onCall.around.isStarted = false;
  duty.scheduler.always(refusesAll(reply));
};

const breakages: readonly Breakage[] = [
  {
    what: 'the secret was never filled',
    isNew: true,
    breaks: () => stage.beginWithSecret('{"client_id":"","client_secret":""}'),
    hears: ['notice', 'command status', 'command check'],
    says: /the credentials are not stored yet/,
    mends: /put-secret-value|credentials set/,
  },
  {
    what: 'the secret has another shape',
    breaks: () => stage.beginWithSecret('{"user":"somebody","password":"hush"}'),
    hears: ['notice', 'alarm Refused', 'alarm Failing', 'command status', 'command check'],
    says: /the stored credentials are not readable as such/,
    mends: /put-secret-value|credentials set/,
  },
  {
    what: 'the secret is deleted',
    breaks: async () => {
      await beginAnew();
      for (const gate of stage.awsGates)
        gate.always(({ operation, forward }) =>
          operation === 'GetSecretValue'
            ? Promise.resolve(json(400, 'InvalidRequestException'))
            : forward(),
        );
    },
    hears: ['notice', 'alarm Refused', 'alarm Failing', 'command status', 'command check'],
    says: /the credentials cannot be read/,
    mends: /restore-secret/,
  },
  {
    what: 'the partner has rotated the credentials',
    breaks: async () => {
      stage.sandbox.rotateSecret();
      await beginAnew();
    },
    hears: ['notice', 'alarm Refused', 'command status', 'command check'],
    says: /the partner refuses the credentials/,
    mends: /put-secret-value|credentials set/,
  },
  {
    what: 'the partner has taken all organizations away',
    breaks: () => stage.sandbox.world.setScope({ organization_ids: [] }),
    hears: ['notice', 'alarm Refused', 'command status', 'command check'],
    says: /the partner has assigned no scope/,
    mends: /partner's support/,
  },
  {
    what: 'the list of the partner is empty',
    breaks: () => {
      const { world } = stage.sandbox;
      for (const { id } of [...world.assessments()]) world.remove(id);
    },
    hears: ['notice', 'command status'],
    says: /many certifications are missing at the partner/,
    mends: /accept-total/,
  },
  {
    what: 'the host of the partner has been gone for a quarter of an hour, and a notice told of it',
    breaks: async () => {
      stage.partner.always(async () => undefined);
      await stage.conditionLasts('partner-silent');
    },
    hears: ['alarm Failing', 'alarm NoCompletedTick', 'command status', 'command check'],
    says: /the partner does not answer/,
    mends: /docs\/operations\.md#failing/,
  },
  {
    what: 'the table is deleted',
    breaks: deleteTable,
    hears: ['alarm Failing', 'alarm NoCompletedTick', 'command status', 'command check'],
    says: /AWS cannot do dynamodb:\w+(?= on the table \S+ \(ResourceNotFoundException)/,
    mends: /comes back from its backup/,
  },
  {
    what: 'the state in the ledger was changed by hand',
    breaks: spoilState,
    hears: ['alarm Failing', 'alarm NoCompletedTick', 'command status', 'command check'],
    says: /The ledger item \S+ is not as written: expected/,
    mends: /Restore the item from a point in time/,
  },
  {
    what: 'the ledger is throttled',
    breaks: () => stage.dynamodb.always(refusesAll(json(400, 'ThrottlingException'))),
    hears: ['alarm Failing', 'alarm NoCompletedTick', 'command status', 'command check'],
    says: /The ledger did not carry out \w+ \(ThrottlingException\)/,
    mends: /docs\/operations\.md#failing/,
  },
  {
    what: 'the events topic is deleted',
    breaks: () => deleteTopic('EventsTopicArn'),
    hears: ['alarm Undelivered', 'command status', 'command check'],
    says: /AWS cannot do sns:Publish(?= on \S+ \(NotFoundException)/,
    mends: /docs\/operations\.md#undelivered/,
  },
  {
    what: 'the alerts topic is deleted',
    breaks: () => deleteTopic('AlertsTopicArn'),
    hears: ['alarm Undelivered', 'command status', 'command check'],
    says: /alerts: AWS cannot do sns:GetTopicAttributes(?= on \S+ \(NotFoundException)/,
    mends: /docs\/operations\.md#undelivered/,
  },
  {
    what: 'the key of the topics is disabled',
    breaks: () =>
      stage.sns.always(({ operation, forward }) =>
        operation.startsWith('Publish') ? Promise.resolve(xml(400, 'KMSDisabled')) : forward(),
      ),
    hears: ['alarm Undelivered', 'command status'],
    says: /AWS cannot do sns:Publish(?= on \S+ \(KMSDisabledException)/,
    mends: /docs\/operations\.md#undelivered/,
  },
  {
    what: 'the schedule is disabled',
    breaks: answersSchedule({
      status: 200,
      type: 'application/json',
      body: '{"State":"DISABLED"}',
    }),
    hears: ['alarm NoCompletedTick', 'command status', 'command check'],
    says: /the schedule is disabled/,
    mends: /deploy --revert-drift/,
  },
  {
    what: 'the schedule is deleted',
    breaks: answersSchedule(json(404, 'ResourceNotFoundException')),
    hears: ['alarm NoCompletedTick', 'command status', 'command check'],
    says: /the schedule does not exist/,
    mends: /deploy --revert-drift/,
  },
  {
    what: 'the role of the schedule may not start the function, or the function is deleted',
    breaks: () => {
      onCall.around.isStarted = false;
      const queue = stage.aws.ref(onCall.resourceOf('AWS::SQS::Queue', /Unstarted/));
      onCall.around.counted.push({
        metric: metricName('AWS/SQS', 'ApproximateNumberOfMessagesVisible', [
          ['QueueName', queue.split('/').at(-1) ?? ''],
        ]),
        value: 1,
      });
    },
    hears: [
      'alarm NoCompletedTick',
      'alarm UnstartedTicksNotEmpty',
      'command status',
      'command check',
    ],
    says: /the scheduler could not start ticks/i,
    mends: /docs\/operations\.md#ticks-not-started/,
  },
  {
    what: "the function's concurrency is taken away",
    breaks: () => {
      onCall.around.isStarted = false;
      onCall.around.counted.push({
        metric: metricName('AWS/Lambda', 'Throttles', [['FunctionName', stage.poll.name]]),
        value: 1,
      });
    },
    hears: ['alarm Throttled', 'alarm NoCompletedTick', 'command status', 'command check'],
    says: /ticks cannot start/,
    mends: /docs\/operations\.md#throttled/,
  },
  {
    what: 'the key of a queue does not let SNS in, or the queue is gone',
    breaks: snsCounts('NumberOfNotificationsFailed', 'EventsTopicArn'),
    hears: ['alarm Deliverieseventsnotdelivered'],
    says: /whose policy or key does not let SNS in/,
    mends: /docs\/operations\.md#not-delivered/,
  },
  {
    what: 'the key of dead letters does not let SNS in, or their queue is gone',
    breaks: snsCounts('NumberOfNotificationsFailedToRedriveToDlq', 'EventsTopicArn'),
    hears: ['alarm Deliverieseventslost'],
    says: /whose policy or key does not let SNS in/,
    mends: /docs\/operations\.md#dead-letters-lost/,
  },
  {
    what: 'SNS refuses an event for good',
    breaks: async () => {
      // A topic that has never accepted anything is not believed.
      stage.sandbox.world.add();
      await stage.completedTick();
      stage.sns.once('PublishBatch', async () => ({
        status: 200,
        type: 'text/xml',
        body: `<PublishBatchResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishBatchResult>
          <Successful/><Failed><member><Id>0</Id><Code>InvalidParameter</Code><SenderFault>true</SenderFault>
          </member></Failed></PublishBatchResult></PublishBatchResponse>`,
      }));
    },
    hears: ['notice', 'alarm Undeliverable', 'command status'],
    says: /SNS refuses events for good/,
    mends: /holds --undeliverable/,
  },
  {
    what: 'the operations topic is deleted',
    // Alarms have nowhere to go either.
    breaks: async () => {
      await deleteTopic('OperationsTopicArn');
      onCall.around.alarmsArrive = false;
    },
    hears: ['command check'],
    says: /operations: AWS cannot do sns:GetTopicAttributes(?= on \S+ \(NotFoundException)/,
    mends: /deploy --revert-drift/,
  },
  {
    what: 'nobody is subscribed to operations',
    breaks: async () => {
      await unsubscribe('OperationsTopicArn');
      onCall.around.alarmsArrive = false;
    },
    hears: ['command check'],
    says: /Nobody is subscribed to operations/,
    mends: /docs\/subscribing\.md/,
  },
  {
    what: 'a subscription was never confirmed',
    breaks: () => subscribeMail('EventsTopicArn'),
    hears: ['command check'],
    says: /events: 1 subscriptions are not confirmed/,
    mends: /follow the link/,
  },
  {
    what: 'nobody is subscribed to events',
    breaks: () => unsubscribe('EventsTopicArn'),
    hears: ['command check'],
    says: /Nobody is subscribed to: events/,
    mends: /docs\/subscribing\.md/,
  },
];

/** Everything that people are told, and what the log has. */
const told = () =>
  [...[...onCall.heard.values()].map(({ text }) => text), ...onCall.log].join('\n');

interface Measured {
  readonly what: string;
  readonly ways: readonly string[];
  readonly says: string;
}
const measured: Measured[] = [];

async function measure(breakage: Omit<Breakage, 'isNew'>): Promise<void> {
  const { what, breaks, hears, says, mends } = breakage;
  await breaks();
  stage.sandbox.world.add();
  const pushed = hears.filter((way) => !way.startsWith('command'));
  await onCall.minutes(quarterOfAnHour, () => pushed.every((way) => onCall.heard.has(way)));
  await onCall.look();
  expect([...onCall.heard.keys()].sort(), told()).toEqual([...hears].sort());
  expect(told()).toMatch(mends);
  note(what, says);
}

function note(what: string, says: RegExp): void {
  const ways = [...onCall.heard].map(([way, { minute, text }]) => {
    const [kind = '', name = ''] = way.split(' ');
    if (minute === undefined) return `\`${name}\``;
    const [, entry = ''] = /docs\/operations\.md#([\w-]+)$/.exec(text) ?? [];
    return `${kind === 'alarm' ? `alarm [${entry}](operations.md#${entry})` : kind}, ${minute} min`;
  });
  expect(told()).toMatch(says);
  measured.push({ what, ways, says: says.exec(told())?.[0] ?? '' });
}

/** What happens at the partner while a role lacks something, so that each of its actions is wanted. */
async function aBusyDay(): Promise<void> {
  const { world } = stage.sandbox;
  const { id } = world.add();
  await onCall.minutes(1);
  world.change(id, { email: 'another@example.org' });
  await onCall.minutes(1);
  world.remove(id);
}

/** Said by AWS without the action of the key that was missing. */
const denies = (action: string) =>
  new RegExp(`AWS denies (\\S+ and )?${action.replace('*', '')}(?= on )`);

const granted = /grant the role of this function|deploy --revert-drift/;
/** The baseline alone writes in batches. */
const ofBaseline = 'dynamodb:BatchWriteItem';

/** With these, a function only writes its log. */
const isOfLog = (action: string) => action.startsWith('logs:');

/** The last one writes down what all have measured. */
const inOrder = { shuffle: false };

const page = () => `# What breaks, and how people on call hear of it

Measured by [test/scenario/breakages.test.ts](../test/scenario/breakages.test.ts), which writes this page: what is deployed,
on the embedded AWS, with a tick a minute, is broken on purpose while something new appears at the partner. Minutes are
those until the first alarm or notice of a kind. What is without minutes is seen by whoever looks: \`status --exit-code\`
ends with 1, or a command names what has failed. Each says what to do, or leads to [operations.md](operations.md).

What AWS counts by itself (the scheduler, Lambda, what SNS could not deliver) is taken from its documentation **(not tried on
AWS)**. The clock of the partner may be ten minutes off: nothing depends on it.

| what is broken | heard by, within | what it says |
| --- | --- | --- |
${measured.map(({ what, ways, says }) => `| ${what} | ${ways.join('; ')} | ${says} |`).join('\n')}
`;

describe('people on call hear of it, with its cause and what mends it, when', inOrder, () => {
  /** In the template; a role of another makes this fail. */
  const ofPoll = [
    'dynamodb:BatchGetItem',
    'dynamodb:BatchWriteItem',
    'dynamodb:GetItem',
    'dynamodb:Query',
    'dynamodb:UpdateItem',
    'kms:Decrypt',
    'kms:GenerateDataKey*',
    'logs:CreateLogStream',
    'logs:PutLogEvents',
    'secretsmanager:GetSecretValue',
    'sns:Publish',
  ];
  const ofOperate = [
    ...ofPoll,
    'sns:GetTopicAttributes',
    'sns:ListSubscriptionsByTopic',
    'sqs:GetQueueUrl',
    'sqs:SendMessage',
  ];

  it.each(breakages)('$what', async ({ isNew, ...breakage }) => {
    await onCall.raise(isNew);
    await measure(breakage);
  });

  it('a role has any action less: these are all', async () => {
    await onCall.raise(true);
    expect(onCall.roles?.actionsOf(stage.poll.name).sort()).toEqual(ofPoll);
    expect(onCall.roles?.actionsOf(stage.operate.name).sort()).toEqual(ofOperate.toSorted());
  });

  it.each(ofPoll)('the role of the ticks lacks %s', async (action) => {
    await onCall.raise(action === ofBaseline);
    if (isOfLog(action)) onCall.around.isLogged = false;
    // A warm function would go on with the secret that it has.
    else await onCall.loses(stage.poll, action);
    if (action !== ofBaseline) await aBusyDay();
    const isHeard = () => [...onCall.heard.keys()].some((way) => way.startsWith('alarm'));
    await onCall.minutes(quarterOfAnHour, isHeard);
    // Until ticks have not come to their end for so long that status says so.
    await onCall.minutes(3);
    await onCall.look();
    expect([...onCall.heard.keys()].join(), told()).toMatch(/notice|alarm/);
    if (!isOfLog(action)) {
      expect([...onCall.heard.keys()]).toContain('command status');
      expect(told()).toMatch(granted);
    }
    note(
      `the role of the ticks lacks \`${action}\``,
      isOfLog(action) ? /ticks do not come to their end/ : denies(action),
    );
  });

  it.each(ofOperate.filter((action) => !isOfLog(action)))(
    'the role of the commands lacks %s',
    async (action) => {
      const isNew = action === ofBaseline;
      await onCall.raise(isNew);
      stage.sandbox.world.add();
      if (!isNew) await onCall.minutes(1);
      await onCall.loses(stage.operate, action);
      stage.sandbox.world.add();
      await onCall.ask(...commands(stage.aws.output('QueueArnPayroll')));
      // Of a queue, the command says what its own policy has to allow, too.
      const says =
        action === 'sqs:GetQueueUrl' ? /cannot be reached(?= \(AccessDenied)/ : denies(action);
      expect(told()).toMatch(action === 'sqs:GetQueueUrl' ? /must allow sqs:GetQueueUrl/ : granted);
      note(`the role of the commands lacks \`${action}\``, says);
    },
  );

  it('it is what docs/breakages.md says', async () => {
    const ofCommands = ofOperate.filter((action) => !isOfLog(action));
    expect(measured).toHaveLength(breakages.length + ofPoll.length + ofCommands.length);
    await expect(page()).toMatchFileSnapshot('../../docs/breakages.md');
  });
});

it.each([-10, 10])(
  'the clock of the partner may be %i minutes off: nobody has to hear',
  async (minutes) => {
    await onCall.raise();
    stage.partner.always(async ({ forward }) => ({
      ...(await forward()),
      date: new Date(Date.now() + minutes * 60_000).toUTCString(),
    }));
    await stage.poll.kill();
    stage.sandbox.world.add();
    expect(await stage.completedTick()).toMatchObject({ created: 1, delivered: 1 });
    await onCall.minutes(3);
    await onCall.look();
    expect([...onCall.heard.keys()]).toEqual([]);
  },
);

/** Together they use all that commands may. */
const commands = (queue: string) => [
  'status --exit-code',
  'check',
  'test-event',
  'tick',
  `replay --from 2020-01-01 --queue ${queue}`,
];
