import { SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { stackOutputs } from '../infra/output-names.ts';
import type { Clock } from '../lambda/clock.ts';
import type { EmbeddedAws, InvocationResult, LocalFunction } from './aws/index.ts';
import { runSchedule } from './aws/schedule.ts';
import { storeCredentials } from './credentials.ts';
import { StartError } from './errors.ts';
import { eventIn, mailIn } from './mails-and-events.ts';
import type { Watched } from './partner-host.ts';
import type { Faults } from './provoking/faults.ts';
import { Provoker } from './provoking/provoker.ts';
import { take } from './queue.ts';
import type { Screen } from './screen.ts';
import type { Seen } from './seen.ts';

/** Long polling. The end of the program waits as long. */
const waitSeconds = 1;

export interface Watch {
  readonly aws: EmbeddedAws;
  /** The partner of each integration, by its name. */
  readonly hosts: ReadonlyMap<string, Watched['host']>;
  /** The proxies between the functions and the embedded services. */
  readonly faults: Faults;
  readonly screen: Screen;
  readonly seen: Seen;
  readonly everyMs: number;
  readonly clock: Clock;
  /** The number of ticks of each integration; undefined: until `stop` aborts. */
  readonly ticks: number | undefined;
  readonly stop: AbortSignal;
}

/** Runs the schedules with a subscriber on each topic, and shows both on the screen. */
export async function watchSchedules(watch: Watch): Promise<void> {
  const { aws, hosts, faults, screen, seen, everyMs, clock, stop } = watch;
  const { ticks = Number.POSITIVE_INFINITY } = watch;
  const watched = [...hosts.keys()].map((name) => scheduled(aws, name));
  for (const { integration, poll } of watched) {
    const issued = hosts.get(integration)?.credentials;
    if (issued !== undefined) storeCredentials(aws, poll, issued);
  }
  const provoked = watched.flatMap(({ integration, poll }) => {
    const { sandbox } = hosts.get(integration) ?? {};
    const operate = aws.functions.get(aws.output(stackOutputs.operateFunction(integration)));
    return sandbox && operate ? [{ integration, sandbox, poll, operate }] : [];
  });
  const changed = () => seen.changed();
  const provoker = new Provoker(provoked, { aws, faults, clock, changed });
  const readers = await Promise.all(
    demoQueues(watch, provoker).map((queue) => subscribed(aws, queue)),
  );
  if (!seen.isReal) seen.provoking = provoker;
  seen.ready();

  const ending = new AbortController();
  const failing = new AbortController();
  const subscribers = Promise.all(readers.map((read) => read(ending.signal)));
  subscribers.catch((error) => failing.abort(error));
  stop.addEventListener('abort', () => watched.forEach(({ poll }) => void poll.kill()), {
    once: true,
  });

  const signal = AbortSignal.any([stop, failing.signal]);
  await Promise.all(
    watched.map(async ({ integration, schedule, poll }) => {
      let done = 0;
      for await (const result of runSchedule(schedule, poll, { everyMs, clock, signal })) {
        screen.tick(result, poll.name, {
          isProvoked: provoker.ended(integration, outcomeOf(result)),
          ...(watched.length > 1 && { integration }),
        });
        seen.changed();
        done += 1;
        if (done >= ticks) break;
      }
    }),
  );
  ending.abort();
  await subscribers;
}

/** A queue of this program that is subscribed to a topic, like a consumer's. */
interface DemoQueue {
  readonly name: string;
  readonly topicArn: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly show: (body: string) => void;
}

function demoQueues({ aws, screen, seen }: Watch, provoker: Provoker): DemoQueue[] {
  const topicArn = aws.output(stackOutputs.eventsTopic);
  const raw = { RawMessageDelivery: 'true' };
  // Each subscriber gets another queue with the same filter, since the subscriber's own queue must not be emptied.
  const theirs = aws.subscriptions.filter((one) => one.topicArn === topicArn && !seen.isReal);
  const likeTheirs = theirs.map(({ protocol, endpoint, attributes }, index): DemoQueue => {
    const { RedrivePolicy: _, ...filter } = attributes;
    const whom = endpoint.startsWith('arn:') ? endpoint.split(':').at(-1) : endpoint;
    const show = (body: string) => {
      const event = eventIn(body);
      if (event !== undefined) seen.event(`${protocol} ${whom}`, event.id, body);
    };
    return { name: `demo-filter-${index}`, topicArn, attributes: { ...filter, ...raw }, show };
  });
  return [
    ...likeTheirs,
    {
      name: 'demo-events',
      topicArn,
      attributes: raw,
      show: (body) => {
        const event = screen.event(body);
        if (event === undefined) return;
        provoker.hears(event);
        seen.event('demo-events', event.id, body);
      },
    },
    {
      name: 'demo-alerts',
      topicArn: aws.output(stackOutputs.alertsTopic),
      // With SNS's envelope, which has the subject.
      attributes: {},
      show: (body) => {
        const mail = mailIn(body);
        screen.mail('digest', mail);
        if (mail !== undefined) seen.mail(mail);
      },
    },
    {
      name: 'demo-operations',
      topicArn: aws.output(stackOutputs.operationsTopic),
      attributes: {},
      show: (body) => {
        const notice = mailIn(body);
        screen.mail('notice', notice);
        if (notice !== undefined) seen.notice(notice);
      },
    },
  ];
}

/** Creates and subscribes the queue. @returns a reader, which goes on until the queue is empty and the signal aborted */
async function subscribed(
  aws: EmbeddedAws,
  { name, topicArn, attributes, show }: DemoQueue,
): Promise<(ending: AbortSignal) => Promise<void>> {
  const sqs = new SQSClient(aws.clientConfig('sqs'));
  const sns = new SNSClient(aws.clientConfig('sns'));
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: name }));
  await sns.send(
    new SubscribeCommand({
      TopicArn: topicArn,
      Protocol: 'sqs',
      Endpoint: `arn:aws:sqs:${aws.region}:${aws.accountId}:${name}`,
      Attributes: attributes,
    }),
  );
  sns.destroy();
  return async (ending) => {
    for (;;) {
      const isLast = ending.aborted;
      const messages = await take(sqs, QueueUrl, isLast ? 0 : waitSeconds);
      for (const { Body = '' } of messages) show(Body);
      if (isLast && messages.length === 0) return sqs.destroy();
    }
  };
}

const returned = z.looseObject({ outcome: z.string() });

/** The outcome that the function reports, or `failed`. */
function outcomeOf(result: InvocationResult): string {
  return result.outcome === 'failed' ? 'failed' : returned.parse(result.payload).outcome;
}

/** The stack's resources for an integration. */
function scheduled(aws: EmbeddedAws, integration: string) {
  const name = aws.output(stackOutputs.schedule(integration));
  const schedule = aws.schedules.find((one) => one.enabled && one.name === name);
  const poll: LocalFunction | undefined = schedule && aws.functions.get(schedule.functionName);
  if (schedule && poll) return { integration, schedule, poll };
  throw new StartError(
    `The stack schedules no function for ${integration}.`,
    'Look at `npm run synth`.',
  );
}
