import * as z from 'zod';
import { stackOutputs } from '../infra/output-names.ts';
import type { Clock } from '../lambda/clock.ts';
import { environment } from '../lambda/names.ts';
import type { EmbeddedAws, InvocationResult, LocalFunction } from './aws/index.ts';
import { runSchedule } from './aws/schedule.ts';
import { storeCredentials } from './credentials.ts';
import { DemoSubscriber } from './demo-subscriber.ts';
import { StartError } from './errors.ts';
import { filtersOf } from './filters.ts';
import { eventIn, mailIn } from './mails-and-events.ts';
import type { Watched } from './partner-host.ts';
import type { Faults } from './provoking/faults.ts';
import { Provoker } from './provoking/provoker.ts';
import type { Screen } from './screen.ts';
import type { Seen } from './seen.ts';

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
export async function watchSchedules({
  aws,
  hosts,
  faults,
  screen,
  seen,
  everyMs,
  clock,
  ticks = Number.POSITIVE_INFINITY,
  stop,
}: Watch): Promise<void> {
  const watched = [...hosts.keys()].map((name) => scheduled(aws, name));
  for (const { integration, poll } of watched) {
    const issued = hosts.get(integration)?.credentials;
    const secret = poll.environment[environment.secret] ?? '';
    if (issued !== undefined) await storeCredentials(aws, secret, issued);
  }
  const topicArn = aws.output(stackOutputs.eventsTopic);
  const filters = seen.isReal ? [] : await filtersOf(aws, topicArn);
  const events = await DemoSubscriber.attach(aws, {
    topicArn,
    queueName: 'demo-events',
    raw: true,
  });
  // Each subscriber gets another queue with the same filter, since the subscriber's own queue must not be emptied.
  const likeTheirs = await Promise.all(
    filters.map(async ({ name, attributes }, index) => {
      const queueName = `demo-filter-${index}`;
      const options = { topicArn, queueName, raw: true, attributes };
      return { name, subscriber: await DemoSubscriber.attach(aws, options) };
    }),
  );
  const digests = await DemoSubscriber.attach(aws, {
    topicArn: aws.output(stackOutputs.alertsTopic),
    queueName: 'demo-alerts',
    // With SNS's envelope, which has the subject.
    raw: false,
  });
  const notices = await DemoSubscriber.attach(aws, {
    topicArn: aws.output(stackOutputs.operationsTopic),
    queueName: 'demo-operations',
    raw: false,
  });
  const provoked = watched.flatMap(({ integration, poll }) => {
    const { sandbox } = hosts.get(integration) ?? {};
    const operate = aws.functions.get(aws.output(stackOutputs.operateFunction(integration)));
    return sandbox && operate ? [{ integration, sandbox, poll, operate }] : [];
  });
  const changed = () => seen.changed();
  const provoker = new Provoker(provoked, { aws, faults, clock, changed });
  if (!seen.isReal) seen.provoking = provoker;
  seen.ready();

  const ending = new AbortController();
  const failing = new AbortController();
  const subscribers = Promise.all([
    each(events.messages(ending.signal), (body) => {
      const event = screen.event(body);
      if (event === undefined) return;
      provoker.hears(event);
      seen.event('demo-events', event.id, body);
    }),
    ...likeTheirs.map(({ name, subscriber }) =>
      each(subscriber.messages(ending.signal), (body) => {
        const event = eventIn(body);
        if (event !== undefined) seen.event(name, event.id, body);
      }),
    ),
    each(digests.messages(ending.signal), (body) => {
      const mail = mailIn(body);
      screen.digest(mail);
      if (mail !== undefined) seen.mail(mail);
    }),
    each(notices.messages(ending.signal), (body) => {
      const notice = mailIn(body);
      screen.notice(notice);
      if (notice !== undefined) seen.notice(notice);
    }),
  ]);
  subscribers.catch((error) => failing.abort(error));
  stop.addEventListener('abort', () => watched.forEach(({ poll }) => void poll.kill()), {
    once: true,
  });

  const signal = AbortSignal.any([stop, failing.signal]);
  await Promise.all(
    watched.map(async ({ integration, schedule, poll }) => {
      let done = 0;
      for await (const result of runSchedule(schedule, poll, { everyMs, clock, signal })) {
        screen.tick(result, {
          functionName: schedule.functionName,
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

async function each<T>(source: AsyncIterable<T>, show: (element: T) => void): Promise<void> {
  for await (const element of source) show(element);
}
