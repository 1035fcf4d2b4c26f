import { type ExpectedSubscription, endpointName } from '../names.ts';
import { type Finding, failed, ok, skipped } from './finding.ts';
import type { OperationParts, Subscribers, TopicFinding } from './parts.ts';

const goneOrNot = {
  gone: 'is not there any more',
  'not confirmed': 'is not confirmed',
} as const;

/** The runbook has the link to follow, and cases that CloudFormation does not see. */
export const confirmOrSubscribeAgain =
  'Confirm subscriptions that are pending, and subscribe again those that are gone: docs/operations.md#subscribe-again.';

/**
 * Whether each subscription that the stack has made is there and confirmed. A subscription that was
 * ended by a click, or that nobody confirmed in time, is gone, and no count of the others shows it.
 */
export async function subscriptions(
  parts: Pick<OperationParts, 'subscribers'>,
  expected: readonly ExpectedSubscription[] | undefined,
): Promise<Finding> {
  if (expected === undefined)
    return skipped('The self-check of the first integration looks at the subscriptions.');
  const byTopic = new Map<string, Subscribers>();
  for (const topic of new Set(expected.map(({ topic }) => topic))) {
    const found = await parts.subscribers(topic);
    if (found.problem !== undefined)
      return skipped(`SNS does not list all subscriptions of ${topic}: ${found.problem}.`);
    byTopic.set(topic, found);
  }
  const lacking = expected.flatMap((one, position) => {
    const state = stateOf(one, byTopic.get(one.topic));
    return state === 'confirmed' ? [] : [{ ...one, position, state }];
  });
  if (lacking.length === 0)
    return ok(
      `Each subscription of the configuration (${expected.length}) is there and confirmed.`,
    );
  const each = lacking.map(({ position, topic, protocol, state }) => [
    `subscriptions[${position}]`,
    `${topic}, ${protocol}: ${state}`,
  ]);
  const told = lacking.map(
    ({ position, topic, name, state }) =>
      `subscriptions[${position}] (${topic}: ${name}) ${goneOrNot[state]}`,
  );
  return {
    ...failed(`${told.join('; ')}.`, `Nothing reaches them. ${confirmOrSubscribeAgain}`),
    each: Object.fromEntries(each),
  };
}

/**
 * Unconfirmed subscriptions of a topic, in words; undefined: there are none. Where the configuration
 * is known, those that `subscriptions` names are left to it, and the text speaks of others.
 */
export async function unconfirmed(
  parts: Pick<OperationParts, 'subscribers'>,
  { topic, pending }: TopicFinding,
  expected: readonly ExpectedSubscription[] | undefined,
): Promise<string | undefined> {
  const told = (count: number, which = '') =>
    count === 0
      ? undefined
      : `${topic}: ${count} ${count === 1 ? 'subscription' : 'subscriptions'}${which} ${count === 1 ? 'is' : 'are'} not confirmed`;
  const found = pending > 0 && expected ? await parts.subscribers(topic) : undefined;
  if (expected === undefined || found === undefined || found.problem !== undefined)
    return told(pending);
  const lacking = expected.filter(
    (one) => one.topic === topic && stateOf(one, found) !== 'confirmed',
  );
  const others = found.listed.filter(
    (one) => !one.isConfirmed && !lacking.some((ours) => isOf(ours, one)),
  );
  return told(others.length, ' beside those of the configuration');
}

/** Whether a subscription that SNS lists is this one. */
const isOf = (
  { protocol, endpoint }: ExpectedSubscription,
  listed: Subscribers['listed'][number],
): boolean =>
  listed.protocol === protocol &&
  (endpoint === undefined || endpointName(protocol, listed.endpoint) === endpoint);

/** Of two with the same endpoint, one that is confirmed counts. */
function stateOf(
  expected: ExpectedSubscription,
  found: Subscribers | undefined,
): 'confirmed' | keyof typeof goneOrNot {
  const its = found?.listed.filter((one) => isOf(expected, one));
  if (its?.some(({ isConfirmed }) => isConfirmed)) return 'confirmed';
  return its?.length ? 'not confirmed' : 'gone';
}
