import { type ExpectedSubscription, endpointName } from '../names.ts';
import { type Finding, failed, ok, skipped } from './finding.ts';
import type { OperationParts, Subscribers } from './parts.ts';

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
    return ok(`All ${expected.length} subscriptions of the configuration are there and confirmed.`);
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

/** Of two with the same endpoint, one that is confirmed counts. */
function stateOf(
  { protocol, endpoint }: ExpectedSubscription,
  found: Subscribers | undefined,
): 'confirmed' | keyof typeof goneOrNot {
  const its = found?.listed.filter(
    (one) =>
      one.protocol === protocol &&
      (endpoint === undefined || endpointName(protocol, one.endpoint) === endpoint),
  );
  if (its?.some(({ isConfirmed }) => isConfirmed)) return 'confirmed';
  return its?.length ? 'not confirmed' : 'gone';
}
