import { systemClock as clock } from '../lambda/clock.ts';
import { environment } from '../lambda/names.ts';
import type { EmbeddedAws } from './aws/index.ts';
import { runSchedule } from './aws/schedule.ts';
import { storeCredentials } from './credentials.ts';
import { DemoSubscriber } from './demo-subscriber.ts';
import { StartError } from './errors.ts';
import type { Credentials } from './partner-host.ts';
import type { Screen } from './screen.ts';

export interface Watch {
  readonly aws: EmbeddedAws;
  readonly credentials: Credentials;
  readonly screen: Screen;
  readonly everyMs: number;
  /** Undefined: until `stop` aborts. */
  readonly ticks: number | undefined;
  readonly stop: AbortSignal;
}

/** Runs the schedule, with a subscriber on each topic, and shows both on the screen. */
export async function watch({
  aws,
  credentials,
  screen,
  everyMs,
  ticks = Number.POSITIVE_INFINITY,
  stop,
}: Watch): Promise<void> {
  const [schedule] = aws.schedules.filter(({ enabled }) => enabled);
  const poll = schedule && aws.functions.get(schedule.functionName);
  if (!poll) {
    throw new StartError('The stack schedules no function.', 'Look at `npm run synth`.');
  }
  const variable = (name: string) => poll.environment[name] ?? '';
  await storeCredentials(aws, variable(environment.secret), credentials);
  const events = await DemoSubscriber.attach(aws, {
    topicArn: variable(environment.eventsTopic),
    queueName: 'demo-events',
    raw: true,
  });
  const digests = await DemoSubscriber.attach(aws, {
    topicArn: variable(environment.alertsTopic),
    queueName: 'demo-alerts',
    // The wrapper carries the subject.
    raw: false,
  });

  const ending = new AbortController();
  const failing = new AbortController();
  const subscribers = Promise.all([
    each(events.messages(ending.signal), (body) => screen.event(body)),
    each(digests.messages(ending.signal), (body) => screen.digest(body)),
  ]);
  subscribers.catch((error) => failing.abort(error));
  stop.addEventListener('abort', () => poll.kill(), { once: true });

  const signal = AbortSignal.any([stop, failing.signal]);
  for await (const result of runSchedule(schedule, poll, { everyMs, clock, signal })) {
    screen.tick(result);
    if (screen.tally.ticks >= ticks) break;
  }
  ending.abort();
  await subscribers;
}

async function each<T>(source: AsyncIterable<T>, show: (element: T) => void): Promise<void> {
  for await (const element of source) show(element);
}
