import pMap from 'p-map';
import * as z from 'zod';
import { certificationEvent } from '../lambda/events/event.ts';
import { dynamoLedger } from '../lambda/ledger/dynamo-ledger.ts';
import { Table } from '../lambda/ledger/table.ts';
import type { Ledger } from '../lambda/ports/ledger.ts';
import { noLease } from '../lambda/ports/state.ts';
import { sightingsOf } from '../test/scaffold/sightings.ts';
import { assessment } from '../test/support/assessments.ts';
import type { Arena, Contender } from './arena.ts';
import { asDeployed, heapOptions } from './as-deployed.ts';
import { type AwsReady, startChild } from './child.ts';
import { Meter } from './meter.ts';
import { isFaultless, type ScoreRow, scoreOf } from './score.ts';
import { Subscriber } from './subscriber.ts';

const outcome = z.object({
  ms: z.number(),
  snsMs: z.number(),
  idleBytes: z.number(),
  peakBytes: z.number(),
  consumption: z.object({
    readUnits: z.number(),
    writeUnits: z.number(),
    calls: z.record(z.string(), z.number()),
    publishes: z.number(),
  }),
  warnings: z.array(z.string()),
});

const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);
/** Above all ids of the arena's world. */
const firstId = 50_000_000;
const leastSpeedUp = 5;
const mostCalls = 1.02;
/** For an outbox of twice as many events. Garbage collection makes the difference vary. */
const mostGrowth = 1.15;

/**
 * So many events in the outbox, as an outage of SNS leaves them, delivered by a tick (ours) and by one
 * Publish an event (the usual poller). Both read the same ledger and settle the delivered events. Events a second are
 * counted over the time in which a request to SNS was under way. The embedded DynamoDB has one thread, and takes
 * longer to settle an event than the embedded SNS takes to accept it.
 */
export async function pendingDelivered(
  arena: Arena,
  aws: AwsReady,
  count: number,
  smaller?: readonly ScoreRow[],
): Promise<ScoreRow[]> {
  const usual = await deliver(arena, aws, 'usual poller', count);
  const ours = await deliver(arena, aws, 'ours', count);
  const speedUp = perSecond(ours) / perSecond(usual);
  const calls = ours.measured?.publishes ?? Number.POSITIVE_INFINITY;
  const peak = ours.further?.['peak MB'] ?? 0;
  const before = smaller?.find(({ contender }) => contender === 'ours')?.further?.['peak MB'];
  const passed =
    speedUp >= leastSpeedUp &&
    calls <= mostCalls * Math.ceil(count / 10) &&
    peak <= (before ?? peak) * mostGrowth &&
    ours.score !== undefined &&
    isFaultless(ours.score);
  const text = [
    `≥ ${leastSpeedUp} × the events a second`,
    `SNS calls ≤ ${mostCalls} × ⌈n / 10⌉`,
    ...(before === undefined ? [] : ['memory not growing']),
  ].join(', ');
  const further = { ...ours.further, 'times as fast': Number(speedUp.toFixed(1)) };
  return [{ ...ours, further, target: { text, passed } }, usual];
}

const perSecond = ({ further }: ScoreRow) => further?.['events a second'] ?? 0;

async function deliver(
  arena: Arena,
  aws: AwsReady,
  contender: Contender,
  count: number,
): Promise<ScoreRow> {
  const { name: world, partner, clock } = arena;
  const outbox = contender === 'ours' ? world : `${world}-one-by-one`;
  const meter = new Meter(aws);
  const subscriber = await Subscriber.to(`${outbox}-${count}`, meter.sns, aws.messaging);
  try {
    const ids = Array.from({ length: count }, (_, index) => firstId + 10 * count + index);
    await owe(dynamoLedger(new Table(meter.dynamodb, aws.table, clock), outbox, silence), ids);
    const topics = { ...arena.topics, events: subscriber.topic };
    const now = clock.now().toString();
    const { ms, snsMs, idleBytes, peakBytes, consumption, warnings } = await asDeployed(
      'delivery-process.ts',
      async (bundle) => {
        const input = { contender, partner, aws, world: outbox, topics, now };
        const child = await startChild(bundle, input, outcome, heapOptions);
        await child.stop();
        return child.ready;
      },
    );
    const created = ids.map((id) => ({ type: 'certification.created', subject: String(id) }));
    return {
      case: `${count.toLocaleString('en')} pending events delivered`,
      contender,
      measured: { ...consumption, requests: contender === 'ours' ? 1 : 0, ms },
      score: scoreOf(created, await subscriber.heard()),
      further: {
        'events a second': Math.round((1_000 * count) / snsMs),
        'peak MB': megabytes(peakBytes),
        'MB at start': megabytes(idleBytes),
        warnings: warnings.length,
      },
    };
  } finally {
    subscriber.close();
    meter.close();
  }

  async function owe(ledger: Ledger, ids: readonly number[]): Promise<void> {
    const state = await ledger.state();
    const at = clock.now();
    await pMap(
      sightingsOf(
        ids.map((id) => assessment({ id })),
        new Map(),
        state.salt,
      ),
      (change, index) => {
        // The embedded DynamoDB confuses two items of an index if their keys have similar hashes.
        const at = clock.now().subtract({ milliseconds: ids.length - index });
        const { assessment, revision } = change;
        const event = certificationEvent({
          integration: outbox,
          type: 'certification.created',
          assessment,
          fields: 'all',
          revision,
          changed: [],
          late: false,
          time: at,
        });
        return ledger.commit(change, event, at, 'pending');
      },
      { concurrency: 32 },
    );
    // The state as a tick leaves it that could not deliver.
    const lease = { owner: 'bench', until: at.add({ seconds: 1 }) };
    if ((await ledger.takeLease(lease, at)) === undefined) throw new Error('no lease');
    await ledger.saveState({ heartbeat: at.toString(), ...noLease }, lease);
  }
}

const silence = { warn: () => undefined };
