import { ManualClock } from '../../test/scaffold/clock.ts';
import { settle } from '../cases.ts';
import type { AwsReady } from '../child.ts';
import { heapOptions } from '../deployed.ts';
import { now } from '../settings.ts';
import { Subscriber, topicsOf } from '../subscriber.ts';
import { createTicker } from '../ticker.ts';
import { startMeasured } from './measured-process.ts';
import type { Enter } from './watcher.ts';

/** Minutes between two polls, at most: a tick believes no clock that says more. */
const every = 15;

/**
 * Our tick, in a new process for each poll, with embedded DynamoDB and SNS over HTTP.
 *
 * @param bundle memory-process.ts, made like the function
 * @param python any, for the measuring program
 */
export function ourContender(aws: AwsReady, bundle: string, python: string, folder: string): Enter {
  let worlds = 0;
  return async (partner) => {
    worlds += 1;
    const world = `peers-${worlds}`;
    const subscriber = await Subscriber.to(`${world}-events`, aws);
    const people = await Subscriber.to(`${world}-people`, aws);
    const clock = new ManualClock(now);
    const parts = { partner, aws, world, topics: topicsOf(subscriber, people), every };
    /** For steps that are not measured, and for reading the ledger. */
    const ticker = createTicker({ ...parts, clock });
    const { ledger } = ticker;
    return {
      async start() {
        await settle({ ticker, clock });
        await subscriber.heard();
      },
      async poll(afterMinutes) {
        clock.advance({ minutes: afterMinutes });
        const input = JSON.stringify({ ...parts, job: 'tick', now: clock.now().toString() });
        const command = [process.execPath, ...heapOptions, bundle, input];
        const { lines, ended, kill } = startMeasured({ python, folder, command, variables: {} });
        const follow = async () => {
          for await (const warning of lines) console.error(`warning in ${world}: ${warning}`);
          return ended;
        };
        return { ended: follow(), kill };
      },
      isBehind: async () => (await ledger.state()).baseline.status !== 'completed',
      heard: () => subscriber.heard(),
      known: async (ids) => new Set((await ledger.known(ids)).keys()),
      async waiting() {
        const { missing } = await ledger.state();
        const withdrawals = missing?.tooManySince === undefined ? 0 : missing.total;
        return withdrawals + (await ledger.countWaitingForOps('held'));
      },
      async close() {
        await ticker.close();
        for (const one of [subscriber, people]) one.close();
      },
    };
  };
}
