import pMap from 'p-map';
import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import { noLease } from '../lambda/decisions/state.ts';
import { certificationEvent } from '../lambda/events/event.ts';
import type { Ledger } from '../lambda/ports/ledger.ts';
import { sightingsOf } from '../test/scaffold/sightings.ts';
import { assessment } from '../test/support/assessments.ts';
import type { Arena, Contender } from './arena.ts';
import { megabytes, startDeployed } from './deployed.ts';
import { happened, isFaultless, type ScoreRow, scoreOf } from './score.ts';
import { Subscriber } from './subscriber.ts';
import { createTicker } from './ticker.ts';

/*
 * Memory and time of a process of its own: bundled like the function, because the sources' loader takes 40 MB, and with
 * the heap that Lambda gives it.
 */

const outcome = z.object({
  ticks: z.int(),
  ms: z.number(),
  snsMs: z.number(),
  idleBytes: z.number(),
  peakBytes: z.number(),
  processorMs: z.number(),
  now: z.string(),
  consumption: z.object({
    readUnits: z.number(),
    writeUnits: z.number(),
    calls: z.record(z.string(), z.number()),
    publishes: z.number(),
  }),
  warnings: z.array(z.string()),
});

const peakIn = (row: ScoreRow | undefined) => row?.further?.['peak MB'];

/** The duration of a request to a partner on the internet. It decides how many ticks a baseline needs. */
const requestMs = 200;
const mostMegabytes = 200;
const mostOverMinimum = 1.15;
/**
 * A smaller history has too few pages: its short first ranges and the start of the process would distort the result.
 */
const fromRecords = 20_000;
/** About seven seconds for 20,000. */
const mostProcessorMsARecord = 0.35;
/** Allowances, since garbage collection varies: for a larger history, and for an outbox of twice as many events. */
const mostGrowth = { baseline: 1.1, outbox: 1.15 };

/**
 * The baseline of an arena's world.
 *
 * @param smaller the same for a smaller history: memory must not grow with it
 */
export async function baselineCase(
  arena: Arena,
  records: number,
  smaller?: ScoreRow,
): Promise<ScoreRow> {
  await arena.control('DELETE', '/requests');
  const { partner, aws, name: world, topics, clock } = arena;
  const input = { job: 'baseline', partner, aws, world, topics, requestMs };
  const told = await startDeployed(
    'memory-process.ts',
    { ...input, now: `${clock.now()}` },
    outcome,
  );
  clock.advance(clock.now().until(Temporal.Instant.from(told.now)));
  const requests = await arena.requests();
  const overMinimum = requests / Math.ceil(records / 100);
  const peak = megabytes(told.peakBytes);
  const isFew = records < fromRecords;
  const isSparing =
    overMinimum <= mostOverMinimum && told.processorMs <= records * mostProcessorMsARecord;
  const isGrowing = peak > (peakIn(smaller) ?? peak) * mostGrowth.baseline;
  const sparing = [
    `≤ ${mostOverMinimum} × the minimum`,
    `≤ ${mostProcessorMsARecord} ms of processor time a record`,
  ];
  return {
    case: `baseline of ${records.toLocaleString('en')}`,
    contender: 'ours',
    measured: { ...told.consumption, requests, ms: told.ms },
    further: {
      'requests over the minimum': Number(overMinimum.toFixed(3)),
      'peak MB': peak,
      'MB at start': megabytes(told.idleBytes),
      'processor s': Number((told.processorMs / 1_000).toFixed(1)),
      ticks: told.ticks,
      warnings: told.warnings.length,
    },
    target: {
      text: [
        ...(isFew ? [] : sparing),
        `≤ ${mostMegabytes} MB`,
        ...(smaller ? ['not growing'] : []),
      ].join(', '),
      passed: (isFew || isSparing) && peak <= mostMegabytes && !isGrowing,
    },
  };
}

/** Above all ids of the arena's world. */
const firstId = 50_000_000;
const leastSpeedUp = 5;
const mostCalls = 1.02;

/**
 * So many events in the outbox, as an outage of SNS leaves them, delivered by a tick (ours) and by one
 * Publish an event (the usual poller). Both read the same ledger and settle the delivered events. Events a second are
 * counted over the time in which a request to SNS was under way. The embedded DynamoDB has one thread, and takes
 * longer to settle an event than the embedded SNS takes to accept it.
 */
export async function pendingDelivered(
  arena: Arena,
  count: number,
  smaller?: readonly ScoreRow[],
): Promise<ScoreRow[]> {
  const usual = await deliver(arena, 'usual poller', count);
  const ours = await deliver(arena, 'ours', count);
  const perSecond = ({ further }: ScoreRow) => further?.['events a second'] ?? 0;
  const speedUp = perSecond(ours) / perSecond(usual);
  const calls = ours.measured?.publishes ?? Number.POSITIVE_INFINITY;
  const peak = peakIn(ours) ?? 0;
  const before = peakIn(smaller?.find(({ contender }) => contender === 'ours'));
  const passed =
    speedUp >= leastSpeedUp &&
    calls <= mostCalls * Math.ceil(count / 10) &&
    peak <= (before ?? peak) * mostGrowth.outbox &&
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

async function deliver(arena: Arena, contender: Contender, count: number): Promise<ScoreRow> {
  const { partner, aws, clock } = arena;
  const isOurs = contender === 'ours';
  const world = isOurs ? arena.name : `${arena.name}-one-by-one`;
  const subscriber = await Subscriber.to(`${world}-${count}`, aws);
  const topics = { ...arena.topics, events: subscriber.topic };
  const ticker = createTicker({ partner, aws, world, clock, topics });
  try {
    const ids = Array.from({ length: count }, (_, index) => firstId + 10 * count + index);
    await owe(ticker.ledger, world, ids, clock.now());
    const job = isOurs ? 'outbox' : 'outbox, one by one';
    const input = { job, partner, aws, world, topics, now: clock.now().toString() };
    const told = await startDeployed('memory-process.ts', input, outcome);
    return {
      case: `${count.toLocaleString('en')} pending events delivered`,
      contender,
      measured: { ...told.consumption, requests: isOurs ? 1 : 0, ms: told.ms },
      score: scoreOf(ids.map(happened('created')), await subscriber.heard()),
      further: {
        'events a second': Math.round((1_000 * count) / told.snsMs),
        'peak MB': megabytes(told.peakBytes),
        'MB at start': megabytes(told.idleBytes),
        warnings: told.warnings.length,
      },
    };
  } finally {
    subscriber.close();
    await ticker.close();
  }
}

/** Events that wait for SNS, and the state as a tick leaves it that could not deliver. */
async function owe(
  ledger: Ledger,
  integration: string,
  ids: readonly number[],
  at: Temporal.Instant,
): Promise<void> {
  const { salt } = await ledger.state();
  const rows = ids.map((id) => assessment({ id }));
  const commit = (change: ReturnType<typeof sightingsOf>[number], index: number) => {
    const event = certificationEvent({
      ...{ integration, type: 'certification.created', fields: 'all', changed: [], late: false },
      ...{ assessment: change.assessment, revision: change.revision },
      time: at.subtract({ milliseconds: ids.length - index }),
    });
    return ledger.commit(
      change,
      event,
      at.subtract({ milliseconds: ids.length - index }),
      'pending',
    );
  };
  await pMap(sightingsOf(rows, new Map(), salt), commit, { concurrency: 32 });
  const lease = { owner: 'bench', until: at.add({ seconds: 1 }) };
  if ((await ledger.takeLease(lease, at)) === undefined) throw new Error('no lease');
  await ledger.saveState({ heartbeat: at.toString(), ...noLease }, lease);
}
