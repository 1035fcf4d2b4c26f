import { ManualClock } from '../test/scaffold/clock.ts';
import { type AwsReady, partnerReady, startChild } from './child.ts';
import { controlSandbox, requestsTo } from './sandbox-control.ts';
import type { Measured } from './score.ts';
import { now } from './settings.ts';
import { Subscriber, topicsOf } from './subscriber.ts';
import { createTicker } from './ticker.ts';

export interface WorldWanted {
  readonly records: number;
  readonly until: string;
  readonly further?: { readonly records: number; readonly last: string };
}

export type Arena = Awaited<ReturnType<typeof openArena>>;

/** One world, our tick in it, and its subscriber. */
export async function openArena(
  world: string,
  wanted: WorldWanted,
  aws: AwsReady,
  options: { readonly holdAbove?: number } = {},
) {
  const child = await startChild('partner-process.ts', wanted, partnerReady);
  const partner = child.ready;
  const clock = new ManualClock(now);
  const subscriber = await Subscriber.to(`${world}-events`, aws);
  const people = await Subscriber.to(`${world}-people`, aws);
  const topics = topicsOf(subscriber, people);
  const ticker = createTicker({ partner, aws, world, clock, topics, ...options });
  const control = (method: string, path: string, body?: object) =>
    controlSandbox(partner, method, path, body);
  return {
    name: world,
    ...{ aws, clock, partner, topics, ticker, control },
    /** Requests to the API since the log was emptied. */
    requests: () => requestsTo(partner),
    /** Events since the last call. */
    heard: () => subscriber.heard(),
    /** A tick, or another act, and everything that it consumed. */
    async measure(act: () => Promise<unknown> = ticker.tick): Promise<Measured> {
      ticker.meter.take();
      await control('DELETE', '/requests');
      await act();
      const requests = await requestsTo(partner);
      return { ...ticker.meter.take(), requests, heard: await subscriber.heard() };
    },
    async close(): Promise<void> {
      await ticker.close();
      await child.stop();
      for (const one of [subscriber, people]) one.close();
    },
  };
}
