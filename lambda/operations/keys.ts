import * as z from 'zod/mini';
import type { ExpectedSubscription } from '../names.ts';
import { type Finding, failed, ok, skipped } from './finding.ts';
import type { OperationParts } from './parts.ts';

const oneOrMore = z.union([z.string(), z.array(z.string())]);
const statement = z.object({
  Effect: z.enum(['Allow', 'Deny']),
  Principal: z.optional(z.union([z.string(), z.record(z.string(), oneOrMore)])),
  Action: z.optional(oneOrMore),
  Condition: z.optional(z.unknown()),
});
const policy = z.object({ Statement: z.union([statement, z.array(statement)]) });

type Statement = z.output<typeof statement>;

/** What a service does with the key of a topic or a queue that it sends to. */
const actions = ['kms:Decrypt', 'kms:GenerateDataKey'];
/** CloudWatch sends alarms to a topic; SNS sends to dead-letter queues, and to queues that this stack has made. */
const services = ['cloudwatch.amazonaws.com', 'sns.amazonaws.com'] as const;
/** AWS's own key for SQS: nobody can add to its policy, which names no service. */
const ownOfSqs = 'alias/aws/sqs';

/**
 * Whether the keys let in who has to use them. A service is let in by the key's policy and nothing else: grants and
 * IAM are for identities. Conditions are not judged. Of the key of a subscriber's queue, only AWS's own is known for
 * sure to shut SNS out; its policy is for its owner to read.
 *
 * @throws whatever keeps it from looking, unless something is known to be shut out
 * @param expected subscriptions; absent: another integration's self-check looks at what all share
 */
export async function keys(
  parts: Pick<OperationParts, 'topics' | 'keyPolicy' | 'queueKey'>,
  expected: readonly ExpectedSubscription[] | undefined,
): Promise<Finding> {
  if (expected === undefined)
    return skipped('The self-check of the first integration looks at them.');
  const shut: [name: string, short: string, told: string][] = [];
  const unknown: unknown[] = [];
  const look = async (at: () => Promise<typeof shut>) => {
    try {
      shut.push(...(await at()));
    } catch (error) {
      unknown.push(error);
    }
  };
  // The role may look at these.
  for (const [position, { topic, protocol, endpoint }] of expected.entries())
    if (topic === 'events' && protocol === 'sqs')
      await look(async () => {
        if ((await parts.queueKey(endpoint)) !== ownOfSqs) return [];
        const told = `subscriptions[${position}] (${endpoint}) is encrypted with ${ownOfSqs}, which shuts SNS out`;
        return [[`keys[${position}]`, `${ownOfSqs} shuts SNS out`, told]];
      });
  const key = (await parts.topics()).find(({ topic }) => topic === 'operations')?.key;
  if (key !== undefined)
    await look(async () => {
      const text = await parts.keyPolicy(key);
      if (text === undefined) return [];
      const statements = [policy.parse(JSON.parse(text)).Statement].flat();
      return services
        .filter((service) => !isLetIn(service, statements))
        .map((service) => {
          const told = `The key of the topics shuts ${service} out`;
          return [`keys[${service}]`, 'shut out by the key of the topics', told];
        });
    });
  if (shut.length > 0)
    return {
      ...failed(
        `${shut.map(([, , told]) => told).join('; ')}.`,
        'Add a statement to the policy of the key that allows the service kms:Decrypt and kms:GenerateDataKey*. A queue with alias/aws/sqs needs another key, or SSE-SQS: docs/configuration.md.',
      ),
      each: Object.fromEntries(shut.map(([name, short]) => [name, short])),
    };
  if (unknown.length > 0) throw unknown[0];
  return ok('No key that can be read shuts SNS or CloudWatch out.');
}

function isLetIn(service: string, statements: readonly Statement[]): boolean {
  const its = statements.filter(({ Principal }) => names(Principal, service));
  const has = (effect: Statement['Effect'], action: string) =>
    its.some(
      ({ Effect, Action = [], Condition }) =>
        Effect === effect &&
        (effect === 'Allow' || Condition === undefined) &&
        [Action].flat().some((pattern) => covers(pattern, action)),
    );
  return actions.every((action) => has('Allow', action) && !has('Deny', action));
}

function names(principal: Statement['Principal'], service: string): boolean {
  if (principal === undefined || typeof principal === 'string') return principal === '*';
  const { Service = [], AWS = [] } = principal;
  return [Service].flat().includes(service) || [AWS].flat().includes('*');
}

/** An action, or a beginning of one with `*`. */
function covers(pattern: string, action: string): boolean {
  const [beginning = '', ...rest] = pattern.toLowerCase().split('*');
  const name = action.toLowerCase();
  return rest.length === 0 ? name === beginning : name.startsWith(beginning);
}
