import {
  ListSubscriptionsByTopicCommand,
  SNSClient,
  SubscribeCommand,
  UnsubscribeCommand,
} from '@aws-sdk/client-sns';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Deployment, queues } from '../scaffold/deployment.ts';

const office = { topic: 'alerts', protocol: 'email', endpoint: 'office@example.org' } as const;
const stage = new Deployment();
beforeAll(() => stage.build({ subscriptions: [office], others: ['district-b'] }));
afterAll(() => stage.dismantle());

let sns: SNSClient;
beforeEach(async () => {
  await stage.raise();
  sns = new SNSClient(stage.aws.clientConfig('sns'));
  await stage.completedTick();
  await stage.notices();
});
afterEach(async () => {
  sns.destroy();
  await stage.strike();
});

const selfChecks = () => stage.aws.schedules.filter(({ expression }) => /^cron/.test(expression));

/** The schedule of the first integration starts its function, and the next tick runs. */
async function day() {
  const [{ input = '' } = {}] = selfChecks();
  const { outcome } = await stage.operate.invoke(JSON.parse(input));
  expect(outcome).toBe('returned');
  await stage.completedTick();
  return stage.notices();
}

async function unsubscribe(topic: string, endpoint: string) {
  const TopicArn = stage.aws.output(topic);
  const { Subscriptions = [] } = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn }));
  const its = Subscriptions.find(({ Endpoint }) => Endpoint === endpoint);
  expect(its).toBeDefined();
  await sns.send(new UnsubscribeCommand({ SubscriptionArn: its?.SubscriptionArn }));
  return TopicArn;
}

describe('the self-check that the schedule starts', () => {
  it('of an unchanged deployment sends nothing', async () => {
    expect(selfChecks()).toHaveLength(2);
    expect(await day()).toEqual([]);
  });

  it('reports an ended subscription, and its return', async () => {
    const TopicArn = await unsubscribe('AlertsTopicArn', office.endpoint);
    expect(await day()).toMatchObject([
      {
        subject: 'district-a: the daily self-check fails',
        text: expect.stringContaining('  subscriptions[4]: alerts, email: gone\n'),
      },
    ]);
    expect(await day()).toEqual([]);
    const again = { TopicArn, Protocol: office.protocol, Endpoint: office.endpoint };
    await sns.send(new SubscribeCommand(again));
    expect(await day()).toMatchObject([
      { subject: 'district-a: the daily self-check passes again' },
    ]);
  });

  it('finds an unconfirmed one, on any page of the list', async () => {
    const member = (arn: string, endpoint: string) =>
      `<member><SubscriptionArn>${arn}</SubscriptionArn><Protocol>email</Protocol><Endpoint>${endpoint}</Endpoint></member>`;
    const page = (members: string, next = '') => ({
      status: 200,
      type: 'text/xml',
      body: `<ListSubscriptionsByTopicResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><ListSubscriptionsByTopicResult><Subscriptions>${members}</Subscriptions>${next}</ListSubscriptionsByTopicResult></ListSubscriptionsByTopicResponse>`,
    });
    stage.sns.always(async ({ operation, body, forward }) => {
      const asked = new URLSearchParams(body);
      const isAlerts = asked.get('TopicArn') === stage.aws.output('AlertsTopicArn');
      if (operation !== 'ListSubscriptionsByTopic' || !isAlerts) return forward();
      return asked.has('NextToken')
        ? page(member('PendingConfirmation', office.endpoint))
        : page(member('Deleted', office.endpoint), '<NextToken>2</NextToken>');
    });
    const [notice] = await day();
    expect(notice?.text).toContain('  subscriptions[4]: alerts, email: not confirmed\n');
    // That page does not list the queue of people.
    expect(notice?.text).toContain('  subscriptions[2]: alerts, sqs: gone\n');
    expect(stage.output.join('\n')).not.toContain('office@');
  });

  it('reports to a new subscriber the time without any', async () => {
    const TopicArn = await unsubscribe('OperationsTopicArn', queues.ops);
    expect(await day()).toEqual([]);
    expect(stage.output.join('\n')).toContain('Nobody is subscribed to operations.');
    const again = { TopicArn, Protocol: 'sqs', Endpoint: queues.ops };
    await sns.send(new SubscribeCommand(again));
    expect(await day()).toMatchObject([
      { subject: 'district-a: the daily self-check passes again' },
    ]);
  });
});
