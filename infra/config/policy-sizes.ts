/**
 * Policies have a size that AWS refuses to exceed, which would show only half-way through a deployment.
 * What of a policy can grow with the configuration has a limit here; the rest is taken at its largest
 * (the longest names, partition and region), and a test compares both with what is synthesized.
 */

/** SNS: 30 KB and 100 statements in a topic's policy. An account takes a statement of up to 500 bytes. */
export const maxSubscriberAccounts = 50;

/** SQS: 50 principals in a queue's policy; two are the topic and everybody, who is denied plain HTTP. */
export const maxReaders = 48;

const limits = {
  /** SQS: 8,192 bytes of a queue's policy, less 1,130 for what else is in it. */
  queue: 7_000,
  /** KMS: 32,768 bytes of a key's policy, less 700. */
  key: 32_000,
  /** IAM: 10,240 characters of a role's own policies, less 5,955 for the rest of the operate function's. */
  role: 4_285,
} as const;

/** The longest ARN of a queue that the stack makes. */
const newQueueArn = 'arn:aws-us-gov:sqs:us-gov-west-1:111122223333:'.length + 80;
/** What a topic for chats takes, in a role that may publish to it and look at it. */
const chatTopic = 2 * ('arn:aws-us-gov:sns:us-gov-west-1:111122223333:'.length + 256 + 3);
/** What a statement for the readers of one queue takes besides them. */
const statement = 230;

interface Subscriber {
  readonly topic: string;
  readonly protocol: string;
  /** An ARN, or nothing where a queue is made. */
  readonly arn: string | undefined;
  readonly readers: readonly string[];
}

interface TooLarge {
  readonly path: (string | number)[];
  readonly message: string;
}

export function tooLargePolicies(subscribers: readonly Subscriber[]): TooLarge[] {
  const large: TooLarge[] = [];
  subscribers.forEach(({ readers }, index) => {
    if (listed(readers) > limits.queue)
      large.push({
        path: ['subscriptions', index, 'endpoint', 'readers'],
        message:
          "fewer: with so many long ARNs, the queue's policy would be larger than SQS takes (8192 bytes)",
      });
  });
  const ofTheKey = subscribers
    .filter(({ readers }) => readers.length > 0)
    .reduce((sum, { readers }) => sum + statement + listed(readers), 0);
  if (ofTheKey > limits.key)
    large.push({
      path: ['subscriptions'],
      message:
        "fewer readers of new queues: the key's policy would be larger than KMS takes (32768 bytes)",
    });
  const queues = subscribers.filter(
    ({ topic, protocol }) => topic === 'events' && protocol === 'sqs',
  );
  const chatTopics = new Set(
    subscribers.flatMap(({ topic, protocol }) =>
      protocol === 'slack' || protocol === 'teams' ? topic : [],
    ),
  );
  const room = limits.role - chatTopic * chatTopics.size;
  if (listed(queues.map(({ arn }) => arn ?? ' '.repeat(newQueueArn))) > room)
    large.push({
      path: ['subscriptions'],
      message: `fewer queues for events than ${queues.length}: the policy of the function that replays to them would be larger than IAM takes (10240 characters)`,
    });
  return large;
}

/** The length of a list in JSON. */
const listed = (arns: readonly string[]) => arns.reduce((sum, arn) => sum + arn.length + 3, 0);
