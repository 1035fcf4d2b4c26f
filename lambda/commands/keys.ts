import { putBack } from '../condition-table.ts';
import type { ExpectedSubscription } from '../names.ts';
import { type Finding, failed, ok, skipped } from './finding.ts';
import { letsIn } from './key-policy.ts';
import type { OperationParts, TopicKey } from './parts.ts';

/** The actions of a service on the key of a topic or a queue that it sends to. */
const actions = ['kms:Decrypt', 'kms:GenerateDataKey'];
/** Sends alarms to the operations topic. */
const cloudWatch = 'cloudwatch.amazonaws.com';
/** Sends to dead-letter queues, and to queues that this stack has made: to none without a subscription. */
const sns = 'sns.amazonaws.com';
/** AWS's own keys: nobody can add to their policies, which name no service. */
const ownOfSns = /(^|:)alias\/aws\/sns$/;
const ownOfSqs = /(^|:)alias\/aws\/sqs$/;
/** States in which a key can neither encrypt nor decrypt. */
const unusable = /^(Disabled|Pending\w+|Unavailable)$/;

/** A key that keeps events or notices from somebody. */
interface Shut {
  /** Its place in the names of failures: `keys[…]`. */
  readonly place: string;
  readonly short: string;
  readonly told: string;
  readonly toDo: string;
}

const admit =
  'Add a statement to the policy of the key that allows the service kms:Decrypt and kms:GenerateDataKey*: docs/configuration.md#a-key-of-your-own.';

const anotherKey =
  'A queue with alias/aws/sqs needs another key, or SSE-SQS: docs/configuration.md#a-queue-of-your-own.';
const enable =
  'Enable the key of the topics: aws kms enable-key, and before it aws kms cancel-key-deletion if the key is to be deleted.';

/**
 * Whether the keys can be used, and let in the services that have to use them. A service is let in
 * by the key's policy and nothing else: grants and IAM are for identities. Of the keys of
 * subscribers' queues, only AWS's own is known to shut SNS out for sure. The policy of any other is
 * for its owner to read.
 *
 * @throws the error that keeps it from looking, unless a service is known to be shut out
 * @param expected subscriptions; absent: another integration's self-check looks at the shared keys
 */
export async function keys(
  parts: Pick<OperationParts, 'topics' | 'topicKey' | 'queueKey'>,
  expected: readonly ExpectedSubscription[] | undefined,
): Promise<Finding> {
  if (expected === undefined)
    return skipped('The self-check of the first integration looks at the keys.');
  const shut: Shut[] = [];
  const unknown: unknown[] = [];
  const look = async (at: () => Promise<readonly Shut[]>) => {
    try {
      shut.push(...(await at()));
    } catch (error) {
      unknown.push(error);
    }
  };
  // The role may look at these queues.
  for (const [position, { topic, protocol, endpoint = '' }] of expected.entries())
    if (topic === 'events' && protocol === 'sqs')
      await look(async () => ofQueue(await parts.queueKey(endpoint), position, endpoint));
  const operations = (await parts.topics()).find(({ topic }) => topic === 'operations');
  const key = operations?.key;
  if (key !== undefined)
    await look(async () =>
      ownOfSns.test(key)
        ? [{ ...shutOut(cloudWatch), toDo: putBack }]
        : ofTopics(
            await parts.topicKey(key),
            expected.length > 0 ? [cloudWatch, sns] : [cloudWatch],
          ),
    );
  if (shut.length > 0)
    return {
      ...failed(
        `${shut.map(({ told }) => told).join('; ')}.`,
        [...new Set(shut.map(({ toDo }) => toDo))].join(' '),
      ),
      each: Object.fromEntries(shut.map(({ place, short }) => [`keys[${place}]`, short])),
    };
  if (unknown.length > 0) throw unknown[0];
  if (operations?.problem !== undefined)
    return skipped('Not tried: SNS does not tell the key of the topics.');
  return ok('No key that can be read shuts SNS or CloudWatch out.');
}

/** A policy that lets everybody in does not help while the key itself cannot be used. */
function ofTopics(key: TopicKey | undefined, services: readonly string[]): Shut[] {
  if (key === undefined) return [];
  const shut = services
    .filter((service) => !letsIn(key.policy, service, actions))
    .map((service) => shutOut(service));
  if (!unusable.test(key.state)) return shut;
  const short = `the key of the topics is ${key.state}`;
  const told = `T${short.slice(1)}: nothing can be published`;
  return [{ place: 'topics', short, told, toDo: enable }, ...shut];
}

const shutOut = (service: string): Shut => ({
  place: service,
  short: 'shut out by the key of the topics',
  told: `The key of the topics shuts ${service} out`,
  toDo: admit,
});

function ofQueue(key: string | undefined, position: number, endpoint: string): Shut[] {
  if (key === undefined || !ownOfSqs.test(key)) return [];
  const short = 'alias/aws/sqs shuts SNS out';
  const told = `subscriptions[${position}] (${endpoint}) is encrypted with alias/aws/sqs, which shuts SNS out`;
  return [{ place: String(position), short, told, toDo: anotherKey }];
}
