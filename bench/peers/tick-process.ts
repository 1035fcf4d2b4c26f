import * as z from 'zod';
import { ManualClock } from '../../test/scaffold/clock.ts';
import { awsReady, input, partnerReady } from '../child.ts';
import { Meter } from '../meter.ts';
import { createTicker } from '../ticker.ts';

/** One tick in its own process, as a peer's sync is. */
const { partner, aws, world, topics, now } = input(
  z.object({
    partner: partnerReady,
    aws: awsReady,
    world: z.string(),
    topics: z.object({ events: z.string(), alerts: z.string(), operations: z.string() }),
    now: z.string(),
  }),
);
const meter = new Meter(aws);
const { dynamodb, sns } = meter;
const clock = new ManualClock(now);
const ticker = createTicker({ partner, world, clock, dynamodb, sns, table: aws.table, topics });
await ticker.tick();
for (const warning of ticker.warnings) console.log(warning);
await ticker.close();
meter.close();
