import { readFileSync } from 'node:fs';
import { DeleteTableCommand, DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import {
  DeleteTopicCommand,
  ListSubscriptionsByTopicCommand,
  SNSClient,
  UnsubscribeCommand,
} from '@aws-sdk/client-sns';
import { expect } from 'vitest';
import { ledgerTable } from '../../lambda/names.ts';
import type { Gate, Reply } from '../../local/aws/gate.ts';
import { integration } from '../scaffold/deployment.ts';
import { json, xml } from '../support/taken-away.ts';
import { OnCall } from './on-call.ts';
import { refusedForGood } from './refusals.ts';

/**
 * Prepared breakages of a deployment. docs/measured/breakages.md says of each how people on call
 * hear of it, within how many minutes, the words and the repair: `measure` holds each line to it.
 */

/** A line of the page. */
export interface Line {
  readonly part: string;
  readonly broken: string;
  readonly ways: readonly string[];
  readonly words: string;
  readonly repair: string;
}

export const lines: readonly Line[] = readFileSync('docs/measured/breakages.md', 'utf8')
  .split(/^## /m)
  .slice(1)
  .flatMap((section) => {
    const [part = '', , , , ...rows] = section.trimEnd().split('\n');
    return rows.map((row) => {
      const [broken = '', ways = '', words = '', repair = ''] = row.slice(2, -2).split(' | ');
      return { part, broken, ways: ways.split('; '), words, repair };
    });
  })
  // `cdk synth` tells it: test/infra/synth.test.ts.
  .filter(({ ways }) => !ways.includes('warning of `cdk synth`'));

let onCall = new OnCall();
const stage = () => onCall.duty.stage;

export const build = () => {
  onCall = new OnCall();
  return onCall.duty.build({
    records: 6,
    subscriptions: [{ topic: 'events', protocol: 'sqs', endpoint: { newQueue: 'payroll' } }],
  });
};
export const strike = () => onCall.duty.strike();
export const dismantle = () => onCall.duty.dismantle();

const dynamodb = () => new DynamoDBClient(stage().aws.clientConfig('dynamodb'));
const sns = () => new SNSClient(stage().aws.clientConfig('sns'));
const beginAnew = () => Promise.all([...stage().aws.functions.values()].map((one) => one.kill()));
const ofTable = () => ({ TableName: stage().aws.tables[0] });

const answers = (gate: Gate, operation: string | RegExp, reply: Reply) =>
  gate.always(async (call) => (call.operation.match(operation) ? reply : call.forward()));
const answered = (body: object): Reply => ({
  status: 200,
  type: 'application/x-amz-json-1.1',
  body: JSON.stringify(body),
});
const removed = json(404, 'ResourceNotFoundException');

async function deleteTopic(output: string): Promise<void> {
  await sns().send(new DeleteTopicCommand({ TopicArn: stage().aws.output(output) }));
}

async function unsubscribe(output: string, whom = /./): Promise<void> {
  const TopicArn = stage().aws.output(output);
  const { Subscriptions = [] } = await sns().send(
    new ListSubscriptionsByTopicCommand({ TopicArn }),
  );
  for (const { SubscriptionArn, Endpoint = '' } of Subscriptions)
    if (whom.test(Endpoint)) await sns().send(new UnsubscribeCommand({ SubscriptionArn }));
}

/** SNS lists a subscription like this before its owner has followed the link. */
function waitsForConfirmation(): void {
  stage().sns.always(async ({ operation, forward }) => {
    const reply = await forward();
    if (operation !== 'ListSubscriptionsByTopic') return reply;
    const members = reply.body.split(/(?=<member>)/).map((member) => {
      const arn = member.includes('payroll') ? /(?<=<SubscriptionArn>)[^<]*/ : /$^/;
      return member.replace(arn, 'PendingConfirmation');
    });
    return { ...reply, body: members.join('') };
  });
}

/** The schedule of the ticks alone, or of the self-checks. */
const answersSchedule = (of: 'ticks' | 'self-checks', reply: Reply) => () => {
  if (of === 'ticks') onCall.around.isStarted = false;
  else onCall.around.isChecked = false;
  answers(onCall.duty.scheduler, of === 'ticks' ? /^(?!.*SelfCheck)/ : /SelfCheck/, reply);
};

/** A changed policy of the key: one service is left. */
const keyLetsIn = (service: string) => () => {
  const ofAccount = {
    Effect: 'Allow',
    Principal: { AWS: 'arn:aws:iam::000000000000:root' },
    Action: 'kms:*',
  };
  const Action = ['kms:Decrypt', 'kms:GenerateDataKey*'];
  const left = { Effect: 'Allow', Principal: { Service: service }, Action };
  const Policy = JSON.stringify({ Statement: [ofAccount, left] });
  answers(stage().kms, 'GetKeyPolicy', answered({ Policy }));
};
const disabled: Reply = { status: 200, type: 'application/json', body: '{"State":"DISABLED"}' };

const breaks: Readonly<Record<string, () => unknown>> = {
  'the secret is still empty': () => stage().beginWithSecret('{"client_id":"","client_secret":""}'),
  'the secret has another shape': () =>
    stage().beginWithSecret('{"user":"somebody","password":"hush"}'),
  'the secret is deleted': async () => {
    await beginAnew();
    for (const gate of stage().awsGates)
      answers(gate, 'GetSecretValue', json(400, 'InvalidRequestException'));
  },
  'the partner has changed the credentials': async () => {
    stage().sandbox.rotateSecret();
    await beginAnew();
  },
  'the scope has no organization': () => stage().sandbox.world.setScope({ organization_ids: [] }),
  'the list is empty': () => {
    const { world } = stage().sandbox;
    for (const { id } of [...world.assessments()]) world.remove(id);
  },
  'the host is gone, after the notice at 15 min': async () => {
    stage().partner.always(async () => undefined);
    await stage().conditionLasts('partner-silent');
  },
  'the table is deleted': () => dynamodb().send(new DeleteTableCommand(ofTable())),
  'the state was changed by hand': () =>
    dynamodb().send(
      new UpdateItemCommand({
        ...ofTable(),
        Key: { [ledgerTable.partitionKey]: { S: `STATE#${integration}` } },
        UpdateExpression: 'SET expected = :text',
        ExpressionAttributeValues: { ':text': { S: 'many' } },
      }),
    ),
  'the ledger is throttled': () => answers(stage().dynamodb, /./, json(400, 'ThrottlingException')),
  'the events topic is deleted': () => deleteTopic('EventsTopicArn'),
  'the alerts topic is deleted': () => deleteTopic('AlertsTopicArn'),
  // In this case and the next two, alarms do not arrive either.
  'the operations topic is deleted': async () => {
    await deleteTopic('OperationsTopicArn');
    onCall.around.alarmsArrive = false;
  },
  'the key of the topics is disabled': () => {
    answers(stage().sns, /^Publish/, xml(400, 'KMSDisabled'));
    answers(stage().kms, 'DescribeKey', answered({ KeyMetadata: { KeyState: 'Disabled' } }));
    onCall.around.alarmsArrive = false;
  },
  'the key of the topics shuts CloudWatch out': () => {
    keyLetsIn('sns.amazonaws.com')();
    onCall.around.alarmsArrive = false;
  },
  'the key of the topics shuts SNS out': keyLetsIn('cloudwatch.amazonaws.com'),
  'one of several is gone': () => unsubscribe('EventsTopicArn', /payroll/),
  'one of several is not confirmed': waitsForConfirmation,
  'nobody is subscribed to events': () => unsubscribe('EventsTopicArn'),
  'nobody is confirmed on operations': async () => {
    await unsubscribe('OperationsTopicArn');
    onCall.around.alarmsArrive = false;
  },
  "a queue has AWS's own key, which shuts SNS out": () => {
    const Attributes = { KmsMasterKeyId: 'alias/aws/sqs' };
    answers(stage().sqs, 'GetQueueAttributes', answered({ Attributes }));
  },
  'a queue or its key keeps SNS out': () =>
    onCall.around.counted.push(onCall.ofEventsTopic('NumberOfNotificationsFailed')),
  'dead letters or their key keep SNS out': () =>
    onCall.around.counted.push(onCall.ofEventsTopic('NumberOfNotificationsFailedToRedriveToDlq')),
  'SNS refuses an event for good': async () => {
    // A topic that has never accepted anything is not believed.
    stage().sandbox.world.add();
    await stage().completedTick();
    stage().sns.once('PublishBatch', refusedForGood);
  },
  'the schedule is disabled': answersSchedule('ticks', disabled),
  'the schedule is deleted': answersSchedule('ticks', removed),
  'the schedule may not start ticks': () => {
    onCall.around.isStarted = false;
    onCall.around.counted.push(onCall.ofUnstartedTicks('ApproximateNumberOfMessagesVisible'));
  },
  'the concurrency is taken away': () => {
    onCall.around.isStarted = false;
    onCall.around.counted.push(onCall.ofLambda('Throttles'));
  },
  'the schedule of the daily check is disabled': answersSchedule('self-checks', disabled),
  'the schedule of the daily check is deleted': answersSchedule('self-checks', removed),
};

const quarterOfAnHour = 18;
/** Only the baseline writes in batches, and its first tick tells that the secret is empty. */
const isNew = ({ broken }: Line) => /BatchWriteItem|still empty/.test(broken);

/** Minutes until people have heard by all ways that reach them, or far too many. */
const untilTold = ({ ways }: Line) => {
  const sent = ways.filter((way) => way.endsWith(' min'));
  const areAllHeard = () => sent.every((way) => onCall.ways.includes(way));
  return sent.length === 0 ? onCall.minutes(1) : onCall.minutes(quarterOfAnHour, areAllHeard);
};

const storyOf: Readonly<Record<string, (line: Line, action: string) => Promise<unknown>>> = {
  async 'An action that the role of the ticks lacks'(line, action) {
    if (action.startsWith('logs:')) onCall.around.isLogged = false;
    else await onCall.loses(stage().poll, action);
    if (!isNew(line)) {
      // Changes at the partner that need each action of the role.
      const { world } = stage().sandbox;
      const { id } = world.add();
      await onCall.minutes(1);
      world.change(id, { email: 'another@example.org' });
      await onCall.minutes(1);
      world.remove(id);
    }
    await untilTold(line);
    // Status reports it once ticks have failed to complete for long enough.
    await onCall.minutes(3);
    await onCall.look();
  },
  async 'An action that the role of the commands lacks'(line, action) {
    stage().sandbox.world.add();
    if (!isNew(line)) await onCall.minutes(1);
    await onCall.loses(stage().operate, action);
    stage().sandbox.world.add();
    // A self-check during a baseline writes nothing, and its tick would complete the baseline.
    if (!isNew(line)) await onCall.aDay();
    // Together they use all permissions of commands.
    const queue = stage().aws.output('QueueArnPayroll');
    await onCall.ask('status --exit-code', 'check', 'test-event', 'tick');
    await onCall.ask(`replay --from 2020-01-01 --queue ${queue}`);
  },
};

async function otherwise(line: Line): Promise<void> {
  await breaks[line.broken]?.();
  stage().sandbox.world.add();
  await untilTold(line);
  await onCall.aDay();
  await onCall.look();
  if (onCall.ways.some((way) => !way.startsWith('`'))) return;
  // Nobody has been told.
  const logged = onCall.log.filter((text) => text.includes('"message":"self-check failed"'));
  expect(logged.join('\n')).toMatch(/operations|topics is Disabled/);
}

/** Breaks it, and compares the ways to people on call, the words and the repair with the line. */
export async function measure(line: Line): Promise<void> {
  await onCall.raise(isNew(line));
  await (storyOf[line.part] ?? otherwise)(line, line.broken.replaceAll('`', ''));
  const repair = line.repair.replace(/^\[.*\]\(\.\.\/(.*)\)$/, 'docs/$1').replaceAll('`', '');
  expect(onCall.ways, onCall.told).toEqual(line.ways);
  expect(onCall.told).toContain(line.words);
  expect(onCall.told).toContain(repair);
}

/** The lines of a whole page: each prepared breakage, and each action that a role can lack. */
export async function breakable(): Promise<string[]> {
  await onCall.raise(true);
  const ofOperate = onCall.actionsOf(stage().operate).filter((one) => !one.startsWith('logs:'));
  const actions = [...onCall.actionsOf(stage().poll), ...ofOperate];
  return [...Object.keys(breaks), ...actions.map((action) => `\`${action}\``)].sort();
}
