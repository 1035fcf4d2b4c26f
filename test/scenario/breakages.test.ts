import { DeleteTableCommand, DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import {
  DeleteTopicCommand,
  ListSubscriptionsByTopicCommand,
  SNSClient,
  UnsubscribeCommand,
} from '@aws-sdk/client-sns';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CertificationNotifier } from '../../infra/index.ts';
import { ledgerTable } from '../../lambda/names.ts';
import type { Reply, Rule } from '../../local/aws/gate.ts';
import { theirStack } from '../infra/constructs/their-app.ts';
import { district } from '../infra/synthesized.ts';
import { integration } from '../scaffold/deployment.ts';
import { metricName } from '../support/cloud-watch.ts';
import { json, xml } from '../support/taken-away.ts';
import { OnCall, type Way } from './on-call.ts';

/**
 * Prepared breakages of a deployment. People on call hear of each, with its cause and its repair.
 * docs/measured/breakages.md has the measurements.
 */

const parts = [
  'Credentials and the partner',
  'The ledger',
  'Topics and their key',
  'Subscriptions and queues',
  'Schedules and functions',
  'An action that the role of the ticks lacks',
  'An action that the role of the commands lacks',
] as const;
type Part = (typeof parts)[number];

interface Breakage {
  /** The action or event that breaks it. */
  readonly broken: string;
  readonly breaks: () => unknown;
  /** The ways in which people on call hear of it. Each sent one must be here. */
  readonly hears: readonly Way[];
  /** The cause, in the words of the notice or of the log to which it leads. */
  readonly says: RegExp;
  /** A command, a place in the runbook, or a contact. */
  readonly mends: RegExp;
  /** Ops cannot be told: the log reports the failure every day. */
  readonly isLogged?: RegExp;
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

async function unsubscribe(output: string, whom = /./): Promise<void> {
  const TopicArn = stage.aws.output(output);
  const { Subscriptions = [] } = await sns().send(
    new ListSubscriptionsByTopicCommand({ TopicArn }),
  );
  for (const { SubscriptionArn, Endpoint = '' } of Subscriptions)
    if (whom.test(Endpoint)) await sns().send(new UnsubscribeCommand({ SubscriptionArn }));
}

/** SNS lists a subscription like this before its owner has followed the link. */
function waitsForConfirmation(): void {
  stage.sns.always(async ({ operation, forward }) => {
    const reply = await forward();
    if (operation !== 'ListSubscriptionsByTopic') return reply;
    const members = reply.body.split(/(?=<member>)/).map((member) => {
      const arn = member.includes('payroll') ? /(?<=<SubscriptionArn>)[^<]*/ : /$^/;
      return member.replace(arn, 'PendingConfirmation');
    });
    return { ...reply, body: members.join('') };
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

/** SNS's own counts of its topic, once a minute. */
const snsCounts = (metric: string, output: string) => () => {
  const topic = stage.aws.output(output).split(':').at(-1) ?? '';
  onCall.around.counted.push({
    metric: metricName('AWS/SNS', metric, [['TopicName', topic]]),
    value: 1,
  });
};

/** The schedule of the ticks alone, or of the self-checks. */
const answersSchedule = (of: 'ticks' | 'self-checks', reply: Reply) => () => {
  if (of === 'ticks') onCall.around.isStarted = false;
  else onCall.around.isChecked = false;
  const isDaily = (path: string) => /SelfCheck/.test(path);
  duty.scheduler.always(({ operation, forward }) =>
    isDaily(operation) === (of === 'self-checks') ? Promise.resolve(reply) : forward(),
  );
};
const answered = (body: object): Reply => ({
  status: 200,
  type: 'application/x-amz-json-1.1',
  body: JSON.stringify(body),
});

const disabledKey = answered({ KeyMetadata: { KeyState: 'Disabled' } });

/** A changed policy of the key: one service is left. */
function keyLetsIn(service: string): void {
  const actions = ['kms:Decrypt', 'kms:GenerateDataKey*'];
  const ofAccount = {
    Effect: 'Allow',
    Principal: { AWS: 'arn:aws:iam::000000000000:root' },
    Action: 'kms:*',
  };
  const left = { Effect: 'Allow', Principal: { Service: service }, Action: actions };
  stage.kms.always(async ({ operation, forward }) =>
    operation === 'GetKeyPolicy'
      ? answered({ Policy: JSON.stringify({ Statement: [ofAccount, left] }) })
      : forward(),
  );
}
const disabled: Reply = { status: 200, type: 'application/json', body: '{"State":"DISABLED"}' };

const breakages: Readonly<Partial<Record<Part, readonly Breakage[]>>> = {
  'Credentials and the partner': [
    {
      broken: 'the secret is still empty',
      isNew: true,
      breaks: () => stage.beginWithSecret('{"client_id":"","client_secret":""}'),
      hears: ['notice', 'command status', 'command check'],
      says: /the credentials are not stored yet/,
      mends: /put-secret-value|credentials set/,
    },
    {
      broken: 'the secret has another shape',
      breaks: () => stage.beginWithSecret('{"user":"somebody","password":"hush"}'),
      hears: ['notice', 'alarm Refused', 'alarm Failing', 'command status', 'command check'],
      says: /the stored credentials are not readable as such/,
      mends: /put-secret-value|credentials set/,
    },
    {
      broken: 'the secret is deleted',
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
      broken: 'the partner has changed the credentials',
      breaks: async () => {
        stage.sandbox.rotateSecret();
        await beginAnew();
      },
      hears: ['notice', 'alarm Refused', 'command status', 'command check'],
      says: /the partner refuses the credentials/,
      mends: /put-secret-value|credentials set/,
    },
    {
      broken: 'the scope has no organization',
      breaks: () => stage.sandbox.world.setScope({ organization_ids: [] }),
      hears: ['notice', 'alarm Refused', 'command status', 'command check'],
      says: /the partner has assigned no scope/,
      mends: /partner's support/,
    },
    {
      broken: 'the list is empty',
      breaks: () => {
        const { world } = stage.sandbox;
        for (const { id } of [...world.assessments()]) world.remove(id);
      },
      hears: ['notice', 'command status'],
      says: /many certifications are missing at the partner/,
      mends: /accept-total/,
    },
    {
      broken: 'the host is gone, after the notice at 15 min',
      breaks: async () => {
        stage.partner.always(async () => undefined);
        await stage.conditionLasts('partner-silent');
      },
      hears: ['alarm Failing', 'alarm NoCompletedTick', 'command status', 'command check'],
      says: /the partner does not answer/,
      mends: /docs\/operations\.md#failing/,
    },
  ],
  'The ledger': [
    {
      broken: 'the table is deleted',
      breaks: deleteTable,
      hears: ['alarm Failing', 'alarm NoCompletedTick', 'command status', 'command check'],
      says: /AWS cannot do dynamodb:\w+(?= on the table \S+ \(ResourceNotFoundException)/,
      mends: /comes back from its backup/,
    },
    {
      broken: 'the state was changed by hand',
      breaks: spoilState,
      hears: ['alarm Failing', 'alarm NoCompletedTick', 'command status', 'command check'],
      says: /The ledger item \S+ is not as written: expected/,
      mends: /Restore the item from a point in time/,
    },
    {
      broken: 'the ledger is throttled',
      breaks: () => stage.dynamodb.always(refusesAll(json(400, 'ThrottlingException'))),
      hears: ['alarm Failing', 'alarm NoCompletedTick', 'command status', 'command check'],
      says: /The ledger did not carry out \w+ \(ThrottlingException\)/,
      mends: /docs\/operations\.md#failing/,
    },
  ],
  'Topics and their key': [
    {
      broken: 'the events topic is deleted',
      breaks: () => deleteTopic('EventsTopicArn'),
      hears: ['alarm Undelivered', 'daily check', 'command status', 'command check'],
      says: /AWS cannot do sns:Publish(?= on \S+ \(NotFoundException)/,
      mends: /docs\/operations\.md#undelivered/,
    },
    {
      broken: 'the alerts topic is deleted',
      breaks: () => deleteTopic('AlertsTopicArn'),
      hears: ['alarm Undelivered', 'daily check', 'command status', 'command check'],
      says: /alerts: AWS cannot do sns:GetTopicAttributes(?= on \S+ \(NotFoundException)/,
      mends: /docs\/operations\.md#undelivered/,
    },
    {
      broken: 'the operations topic is deleted',
      // Alarms have no target either.
      breaks: async () => {
        await deleteTopic('OperationsTopicArn');
        onCall.around.alarmsArrive = false;
      },
      hears: ['command status', 'command check'],
      isLogged: /operations/,
      says: /operations: AWS cannot do sns:GetTopicAttributes(?= on \S+ \(NotFoundException)/,
      mends: /deploy --revert-drift/,
    },
    {
      broken: 'the key of the topics is disabled',
      // Alarms need the key, too.
      breaks: () => {
        stage.sns.always(({ operation, forward }) =>
          operation.startsWith('Publish') ? Promise.resolve(xml(400, 'KMSDisabled')) : forward(),
        );
        stage.kms.always(({ operation, forward }) =>
          operation === 'DescribeKey' ? Promise.resolve(disabledKey) : forward(),
        );
        onCall.around.alarmsArrive = false;
      },
      hears: ['command status', 'command check'],
      isLogged: /topics is Disabled/,
      says: /The key of the topics is Disabled/,
      mends: /aws kms enable-key/,
    },
    {
      broken: 'the key of the topics shuts CloudWatch out',
      breaks: () => {
        keyLetsIn('sns.amazonaws.com');
        onCall.around.alarmsArrive = false;
      },
      hears: ['daily check', 'command status', 'command check'],
      says: /The key of the topics shuts cloudwatch\.amazonaws\.com out/,
      mends: /Add a statement to the policy of the key/,
    },
    {
      broken: 'the key of the topics shuts SNS out',
      breaks: () => keyLetsIn('cloudwatch.amazonaws.com'),
      hears: ['daily check', 'command status', 'command check'],
      says: /The key of the topics shuts sns\.amazonaws\.com out/,
      mends: /Add a statement to the policy of the key/,
    },
  ],
  'Subscriptions and queues': [
    {
      broken: 'one of several is gone',
      breaks: () => unsubscribe('EventsTopicArn', /payroll/),
      hears: ['daily check', 'command status', 'command check'],
      says: /subscriptions\[4\]: events, sqs: gone/,
      mends: /docs\/operations\.md#subscribe-again/,
    },
    {
      broken: 'one of several is not confirmed',
      breaks: waitsForConfirmation,
      hears: ['daily check', 'command status', 'command check'],
      says: /subscriptions\[4\]: events, sqs: not confirmed/,
      mends: /docs\/operations\.md#subscribe-again/,
    },
    {
      broken: 'nobody is subscribed to events',
      breaks: () => unsubscribe('EventsTopicArn'),
      hears: ['daily check', 'command status', 'command check'],
      says: /subscriptions\[0\]: events, sqs: gone/,
      mends: /docs\/operations\.md#subscribe-again/,
    },
    {
      broken: 'nobody is confirmed on operations',
      breaks: async () => {
        await unsubscribe('OperationsTopicArn');
        onCall.around.alarmsArrive = false;
      },
      hears: ['command status', 'command check'],
      isLogged: /operations/,
      says: /Nobody is subscribed to operations/,
      mends: /docs\/operations\.md#subscribe-again/,
    },
    {
      broken: "a queue has AWS's own key, which shuts SNS out",
      breaks: () =>
        stage.sqs.always(({ operation, forward }) =>
          operation === 'GetQueueAttributes'
            ? Promise.resolve(answered({ Attributes: { KmsMasterKeyId: 'alias/aws/sqs' } }))
            : forward(),
        ),
      hears: ['daily check', 'command status', 'command check'],
      says: /subscriptions\[0\] \(\S+\) is encrypted with alias\/aws\/sqs/,
      mends: /needs another key, or SSE-SQS/,
    },
    {
      broken: 'a queue or its key keeps SNS out',
      breaks: snsCounts('NumberOfNotificationsFailed', 'EventsTopicArn'),
      hears: ['alarm Deliverieseventsnotdelivered'],
      says: /whose policy or key does not let SNS in/,
      mends: /docs\/operations\.md#not-delivered/,
    },
    {
      broken: 'dead letters or their key keep SNS out',
      breaks: snsCounts('NumberOfNotificationsFailedToRedriveToDlq', 'EventsTopicArn'),
      hears: ['alarm Deliverieseventslost'],
      says: /whose policy or key does not let SNS in/,
      mends: /docs\/operations\.md#dead-letters-lost/,
    },
    {
      broken: 'SNS refuses an event for good',
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
  ],
  'Schedules and functions': [
    {
      broken: 'the schedule is disabled',
      breaks: answersSchedule('ticks', disabled),
      hears: ['alarm NoCompletedTick', 'command status', 'command check'],
      says: /the schedule is disabled/,
      mends: /deploy --revert-drift/,
    },
    {
      broken: 'the schedule is deleted',
      breaks: answersSchedule('ticks', json(404, 'ResourceNotFoundException')),
      hears: ['alarm NoCompletedTick', 'command status', 'command check'],
      says: /the schedule does not exist/,
      mends: /deploy --revert-drift/,
    },
    {
      broken: 'the schedule may not start ticks',
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
      broken: 'the concurrency is taken away',
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
      broken: 'the schedule of the daily check is disabled',
      breaks: answersSchedule('self-checks', disabled),
      hears: ['daily check', 'command status', 'command check'],
      says: /no self-check has come to its end(?= since)/,
      mends: /deploy --revert-drift/,
    },
    {
      broken: 'the schedule of the daily check is deleted',
      breaks: answersSchedule('self-checks', json(404, 'ResourceNotFoundException')),
      hears: ['daily check', 'command status', 'command check'],
      says: /no self-check has come to its end(?= since)/,
      mends: /deploy --revert-drift/,
    },
  ],
};

/** All texts sent to people, and the log. */
const told = () =>
  [...[...onCall.heard.values()].map(({ text }) => text), ...onCall.log].join('\n');

interface Measured {
  readonly part: Part;
  readonly broken: string;
  readonly ways: readonly string[];
  readonly says: string;
  readonly mends: string;
}
const measured: Measured[] = [];

async function measure(part: Part, breakage: Omit<Breakage, 'isNew'>): Promise<void> {
  const { broken, breaks, hears, says, mends, isLogged } = breakage;
  await breaks();
  stage.sandbox.world.add();
  const pushed = hears.filter((way) => /^(notice|alarm)/.test(way));
  await onCall.minutes(
    pushed.length === 0 ? 1 : quarterOfAnHour,
    () => pushed.length > 0 && pushed.every((way) => onCall.heard.has(way)),
  );
  await onCall.aDay();
  await onCall.look();
  expect([...onCall.heard.keys()].sort(), told()).toEqual([...hears].sort());
  if (isLogged) {
    const lines = onCall.log.filter((line) => line.includes('"message":"self-check failed"'));
    expect(lines.join('\n')).toMatch(isLogged);
  }
  note(part, broken, { says, mends });
}

function note(
  part: Part,
  broken: string,
  { says, mends }: { readonly says: RegExp; readonly mends: RegExp },
): void {
  const ways = [...onCall.heard].map(([way, { minute, text }]) => {
    const [kind = '', name = ''] = way.split(' ');
    if (minute === undefined) return `\`${name}\``;
    if (way === 'daily check') return onCall.isSelfCheckLate ? 'notice, 26 h' : way;
    const [, entry = ''] = /docs\/operations\.md#([\w-]+)$/.exec(text) ?? [];
    return `${kind === 'alarm' ? `alarm [${entry}](../operations.md#${entry})` : kind}, ${minute} min`;
  });
  expect(told()).toMatch(says);
  expect(told()).toMatch(mends);
  const found = (pattern: RegExp) => pattern.exec(told())?.[0] ?? '';
  measured.push({ part, broken, ways, says: found(says), mends: linked(found(mends)) });
}

/** A place in the docs becomes a link from the page. Other texts stay as they are. */
const linked = (told: string) =>
  told
    .replace(
      /^(restore-secret|aws kms enable-key|credentials set|accept-total|holds --.*|deploy --.*)$/,
      '`$1`',
    )
    .replace(/^docs\/((?:\w+\.md)#?([\w-]*))$/, (_, to, entry) => `[${entry || to}](../${to})`);

/** Changes at the partner that need each action of a role. */
async function aBusyDay(): Promise<void> {
  const { world } = stage.sandbox;
  const { id } = world.add();
  await onCall.minutes(1);
  world.change(id, { email: 'another@example.org' });
  await onCall.minutes(1);
  world.remove(id);
}

/** AWS's denial, which omits the missing action of the key. */
const denies = (action: string) =>
  new RegExp(`AWS denies (\\S+ and )?${action.replace('*', '')}(?= on )`);

const granted = /grant the role of this function|deploy --revert-drift/;
/** Only the baseline writes in batches. */
const ofBaseline = 'dynamodb:BatchWriteItem';

/** A function without these only writes no log. */
const isOfLog = (action: string) => action.startsWith('logs:');

/** The last test writes the page of all measurements. */
const inOrder = { shuffle: false };

const tableOf = (part: Part) => `## ${part}

| breakage | heard by, within | words | repair |
| --- | --- | --- | --- |
${measured
  .filter((one) => one.part === part)
  .map(({ broken, ways, says, mends }) => `| ${broken} | ${ways.join('; ')} | ${says} | ${mends} |`)
  .join('\n')}
`;

const page = () => `# Breakages, and how people on call hear of them

This page lists the parts of a deployment that can break. It shows who tells people on call, how soon, the words and the repair.
[test/scenario/breakages.test.ts](../../test/scenario/breakages.test.ts) measures it and writes this page:
it deploys to the embedded AWS, runs a tick a minute, breaks one thing, and has a new certification appear at the partner.

There are four ways to hear of it:

- **notice**: a message on the operations topic, from a tick.
- **alarm**: a message from CloudWatch on the same topic, with a link to the runbook.
- **daily check**: a notice of the self-check's failures, within a day. If the self-check does not come to its end, ticks
  tell so after 26 hours.
- \`status\`, \`check\` and other commands: for people who look. \`status --exit-code\` and the others end with 1, for a
  monitor outside of AWS.

If messages cannot reach ops, only the last way is left, and "self-check failed" once a day in the operate function's log.

AWS's own counts (the scheduler, Lambda, undeliverable messages of SNS) are taken from its documentation **(not tried on AWS)**. The clock of the partner may be ten minutes off: nothing depends on it.

Nothing tells that the policy of the operations topic, or a condition in the policy of its key, keeps CloudWatch out. Notices still arrive then, and alarms do not. [See an alarm arrive](../operations.md#verify) after each change of either.

${parts.map(tableOf).join('\n')}`;

describe('people on call hear of it, with its cause and its repair, when', inOrder, () => {
  /** The template's actions. This test fails if a role has others. */
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
    'kms:DescribeKey',
    'kms:GetKeyPolicy',
    'sqs:GetQueueAttributes',
    'sqs:GetQueueUrl',
    'sqs:SendMessage',
  ];

  it.each(
    parts.flatMap((part) => (breakages[part] ?? []).map((breakage) => ({ part, ...breakage }))),
  )('$broken', async ({ part, isNew, ...breakage }) => {
    await onCall.raise(isNew);
    await measure(part, breakage);
  });

  it('the configuration has no subscriber to operations', () => {
    const stack = theirStack();
    new CertificationNotifier(stack, 'Notifier', { integrations: [district] });
    const warned = stack.node
      .findAll()
      .flatMap(({ node }) => node.metadata)
      .filter(({ type }) => type === 'aws:cdk:warning')
      .map(({ data }) => String(data));
    expect(warned).toEqual([expect.stringMatching(/^subscriptions: nobody is subscribed/)]);
    measured.push({
      part: 'Subscriptions and queues',
      broken: 'nobody is configured on operations',
      ways: ['warning of `cdk synth`'],
      says: "nobody is subscribed to 'operations'",
      mends: '[`subscriptions`](../configuration.md#subscriptions)',
    });
  });

  it('a role lacks one of its actions, which are all listed', async () => {
    await onCall.raise(true);
    expect(onCall.roles?.actionsOf(stage.poll.name).sort()).toEqual(ofPoll);
    expect(onCall.roles?.actionsOf(stage.operate.name).sort()).toEqual(ofOperate.toSorted());
  });

  it.each(ofPoll)('the role of the ticks lacks %s', async (action) => {
    await onCall.raise(action === ofBaseline);
    if (isOfLog(action)) onCall.around.isLogged = false;
    // A warm function would still use its cached secret.
    else await onCall.loses(stage.poll, action);
    if (action !== ofBaseline) await aBusyDay();
    const isHeard = () => [...onCall.heard.keys()].some((way) => way.startsWith('alarm'));
    await onCall.minutes(quarterOfAnHour, isHeard);
    // Status reports it once ticks have failed to complete for long enough.
    await onCall.minutes(3);
    await onCall.look();
    expect([...onCall.heard.keys()].join(), told()).toMatch(/notice|alarm/);
    if (!isOfLog(action)) expect([...onCall.heard.keys()]).toContain('command status');
    note(parts[5], `\`${action}\``, {
      says: isOfLog(action) ? /ticks do not come to their end/ : denies(action),
      mends: isOfLog(action) ? /docs\/operations\.md#no-completed-tick/ : granted,
    });
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
      // A self-check during a baseline writes nothing, and its tick would complete the baseline.
      if (!isNew) await onCall.aDay();
      await onCall.ask(...commands(stage.aws.output('QueueArnPayroll')));
      // For a queue, the command also names the needed statement of the queue's own policy.
      const isQueue = action === 'sqs:GetQueueUrl';
      note(parts[6], `\`${action}\``, {
        says: isQueue ? /cannot be reached(?= \(AccessDenied)/ : denies(action),
        mends: isQueue ? /must allow sqs:GetQueueUrl/ : granted,
      });
    },
  );

  it('docs/measured/breakages.md has all measurements', async () => {
    const ofCommands = ofOperate.filter((action) => !isOfLog(action));
    const all = Object.values(breakages).flat().length + 1 + ofPoll.length + ofCommands.length;
    expect(measured).toHaveLength(all);
    await expect(page()).toMatchFileSnapshot('../../docs/measured/breakages.md');
  });
});

it.each([-10, 10])(
  'the clock of the partner may be %i minutes off without a notice',
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

/** Together they use all permissions of commands. */
const commands = (queue: string) => [
  'status --exit-code',
  'check',
  'test-event',
  'tick',
  `replay --from 2020-01-01 --queue ${queue}`,
];
