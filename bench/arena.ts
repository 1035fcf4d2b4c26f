import { ManualClock } from '../test/scaffold/clock.ts';
import { type AwsReady, partnerReady, startChild } from './child.ts';
import { type Consumption, Meter } from './meter.ts';
import { controlSandbox, requestsTo } from './sandbox-control.ts';
import { now } from './settings.ts';
import { type Heard, Subscriber, topicsOf } from './subscriber.ts';
import { createTicker } from './ticker.ts';
import { carefulPoller, type PollerParts, startPollers, usualPoller } from './usual-pollers.ts';

export const contenders = ['ours', 'usual poller', 'careful poller'] as const;
export type Contender = (typeof contenders)[number];

/** The costs and the results of one contender's run. */
export interface Measured extends Consumption {
  /** Requests to the API by the sandbox's log, without those for tokens. */
  readonly requests: number;
  readonly ms: number;
  /** Events that its subscriber received. */
  readonly heard: readonly Heard[];
}

export interface WorldWanted {
  readonly records: number;
  readonly until: string;
  readonly further?: { readonly records: number; readonly last: string };
  readonly unstableTies?: boolean;
}

export type Arena = Awaited<ReturnType<typeof openArena>>;

/** One world and its three contenders. Each contender has its own topic, subscriber and tables. */
export async function openArena(
  world: string,
  wanted: WorldWanted,
  aws: AwsReady,
  options: { readonly holdAbove?: number } = {},
) {
  const child = await startChild('partner-process.ts', wanted, partnerReady);
  const partner = child.ready;
  const clock = new ManualClock(now);
  const subscribers = {
    ours: await Subscriber.to(`${world}-ours`, aws),
    'usual poller': await Subscriber.to(`${world}-usual`, aws),
    'careful poller': await Subscriber.to(`${world}-careful`, aws),
  };
  const people = await Subscriber.to(`${world}-people`, aws);
  const topics = topicsOf(subscribers.ours, people);
  const ticker = createTicker({ partner, aws, world, clock, topics, ...options });
  const meters = {
    ours: ticker.meter,
    'usual poller': new Meter(aws),
    'careful poller': new Meter(aws),
  };
  const control = (method: string, path: string, body?: object) =>
    controlSandbox(partner, method, path, body);
  const pollerParts = (contender: Contender): PollerParts => {
    const { dynamodb, sns } = meters[contender];
    const { topic } = subscribers[contender];
    return { client: ticker.client, dynamodb, sns, topic, world, clock };
  };
  const run = async (contender: Contender): Promise<void> => {
    if (contender === 'ours') await ticker.tick();
    else if (contender === 'usual poller') await usualPoller(pollerParts(contender));
    else await carefulPoller(pollerParts(contender));
  };
  return {
    name: world,
    ...{ aws, clock, partner, topics, ticker, control, run },
    /** Requests to the API since the log was emptied. */
    requests: () => requestsTo(partner),
    /** One run of one contender, and everything that it consumed. */
    async measure(contender: Contender, act = () => run(contender)): Promise<Measured> {
      meters[contender].take();
      await control('DELETE', '/requests');
      const began = performance.now();
      await act();
      const ms = performance.now() - began;
      const requests = await requestsTo(partner);
      const consumption = meters[contender].take();
      return { ...consumption, requests, ms, heard: await subscribers[contender].heard() };
    },
    /** The first run of the two other contenders, which announces nothing. */
    startPollers: () => startPollers(pollerParts('careful poller')),
    async close(): Promise<void> {
      await ticker.close();
      await child.stop();
      for (const one of [...Object.values(meters), ...Object.values(subscribers), people])
        one.close();
    },
  };
}
