import { isChat, newQueueOf, type SubscriptionConfig } from './subscription.ts';

/**
 * AWS limits the size of policies, which would show only half-way through a deployment. The parts of a policy that grow
 * with the configuration have a limit here. The other parts are taken at their largest (the longest names, partition
 * and region). A test compares both with the synthesized stack.
 */

const limits = {
  /** SQS's limit for a queue's policy: 8,192 bytes, less 1,130 for its other statements. */
  queue: 7_000,
  /** KMS's limit for a key's policy: 32,768 bytes, less 700 for its other statements. */
  key: 32_000,
  /**
   * IAM's limit for a role's own policies: 10,240 characters, less 5,955 for the other statements of the operate
   * function.
   */
  role: 4_285,
} as const;

/** The longest ARN of a queue that the stack makes. */
const newQueueArn = 'arn:aws-us-gov:sqs:us-gov-west-1:111122223333:'.length + 80;
/** The size of a topic for chats in a role that may publish to it and look at it. */
const chatTopic = 2 * ('arn:aws-us-gov:sns:us-gov-west-1:111122223333:'.length + 256 + 3);
/** The size of a statement for the readers of one queue, without the readers. */
const statement = 230;

/** A problem of settings that do not fit together. */
export interface Clash {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export function tooLargePolicies(subscriptions: readonly SubscriptionConfig[]): Clash[] {
  const large: Clash[] = [];
  const readersOf = (one: SubscriptionConfig) => newQueueOf(one)?.readers ?? [];
  subscriptions.forEach((one, index) => {
    if (listed(readersOf(one)) > limits.queue)
      large.push({
        path: ['subscriptions', index, 'endpoint', 'readers'],
        message:
          "fewer: with so many long ARNs, the queue's policy would be larger than SQS takes (8192 bytes)",
      });
  });
  const ofTheKey = subscriptions
    .map(readersOf)
    .reduce((sum, readers) => sum + (readers.length && statement + listed(readers)), 0);
  if (ofTheKey > limits.key)
    large.push({
      path: ['subscriptions'],
      message:
        "fewer readers of new queues: the key's policy would be larger than KMS takes (32768 bytes)",
    });
  const queues = subscriptions.flatMap((one) =>
    one.topic === 'events' && one.protocol === 'sqs' ? one.endpoint : [],
  );
  const chatTopics = new Set(subscriptions.filter(isChat).map(({ topic }) => topic));
  const room = limits.role - chatTopic * chatTopics.size;
  const arns = queues.map((one) => (typeof one === 'string' ? one : ' '.repeat(newQueueArn)));
  if (listed(arns) > room)
    large.push({
      path: ['subscriptions'],
      message: `fewer queues for events than ${queues.length}: the policy of the function that replays to them would be larger than IAM takes (10240 characters)`,
    });
  return large;
}

/** The length of a list in JSON. */
const listed = (arns: readonly string[]) => arns.reduce((sum, arn) => sum + arn.length + 3, 0);
