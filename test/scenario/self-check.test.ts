import { afterAll, beforeAll, expect, it } from 'vitest';
import { Deployment } from '../scaffold/deployment.ts';

/** That its failures reach people, and their end: test/lambda/commands/self-check.test.ts. */

const office = { topic: 'alerts', protocol: 'email', endpoint: 'office@example.org' } as const;
const stage = new Deployment();
beforeAll(async () => {
  await stage.build({ subscriptions: [office], others: ['district-b'] });
  await stage.raise();
});
afterAll(async () => {
  await stage.strike();
  await stage.dismantle();
});

/** A page of the list of subscriptions to alerts. */
const page = (arn: string, next = '') => ({
  status: 200,
  type: 'text/xml',
  body: `<ListSubscriptionsByTopicResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><ListSubscriptionsByTopicResult><Subscriptions>
    <member><SubscriptionArn>${arn}</SubscriptionArn><Protocol>email</Protocol><Endpoint>${office.endpoint}</Endpoint></member>
    </Subscriptions>${next}</ListSubscriptionsByTopicResult></ListSubscriptionsByTopicResponse>`,
});

it('the self-check that the schedule starts finds nothing in a new deployment, and an unconfirmed subscription on any page', async () => {
  const daily = stage.aws.schedules.filter(({ expression }) => /^cron/.test(expression));
  expect(daily).toHaveLength(2);
  /** The schedule of the first integration starts its function, and the next tick runs. */
  const day = async () => {
    const { outcome } = await stage.operate.invoke(JSON.parse(daily[0]?.input ?? ''));
    expect(outcome).toBe('returned');
    await stage.completedTick();
    return stage.notices();
  };
  await stage.completedTick();
  await stage.notices();
  expect(await day()).toEqual([]);
  stage.sns.always(async ({ operation, body, forward }) => {
    const asked = new URLSearchParams(body);
    const isAlerts = asked.get('TopicArn') === stage.aws.output('AlertsTopicArn');
    if (operation !== 'ListSubscriptionsByTopic' || !isAlerts) return forward();
    return asked.has('NextToken')
      ? page('PendingConfirmation')
      : page('Deleted', '<NextToken>2</NextToken>');
  });
  const [notice, ...more] = await day();
  expect(more).toEqual([]);
  expect(notice?.subject).toBe('district-a: the daily self-check fails');
  expect(notice?.text).toContain('  subscriptions[4]: alerts, email: not confirmed\n');
  // That list does not have the queue of people.
  expect(notice?.text).toContain('  subscriptions[2]: alerts, sqs: gone\n');
  expect(stage.output.join('\n')).not.toContain('office@');
});
