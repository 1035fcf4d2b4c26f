import pMap from 'p-map';
import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import { noLease } from '../lambda/decisions/state.ts';
import { certificationEvent } from '../lambda/events/event.ts';
import type { Ledger } from '../lambda/ports/ledger.ts';
import { sightingsOf } from '../test/scaffold/sightings.ts';
import { assessment } from '../test/support/assessments.ts';
import type { Arena } from './arena.ts';
import { runDeployed } from './deployed.ts';
import { happened, rowOf, type ScoreRow } from './score.ts';

/*
 * Memory and time of a process of its own: bundled like the function, because the sources' loader takes 40 MB, and with
 * the heap that Lambda gives it.
 */

const outcome = z.object({
  ticks: z.int(),
  idleBytes: z.number(),
  peakBytes: z.number(),
  processorMs: z.number(),
  now: z.string(),
  consumption: z.object({
    readUnits: z.number(),
    writeUnits: z.number(),
    calls: z.number(),
    publishes: z.number(),
  }),
  warnings: z.array(z.string()),
});

const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);
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

async function inProcess({ partner, aws, name: world, topics, clock }: Arena, job: object) {
  const input = { partner, aws, world, topics, now: clock.now().toString(), ...job };
  const told = await runDeployed('memory-process.ts', input, outcome);
  const further = {
    'peak MB': megabytes(told.peakBytes),
    'MB at start': megabytes(told.idleBytes),
    warnings: told.warnings.length,
  };
  return { ...told, further };
}

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
  const told = await inProcess(arena, { job: 'baseline', requestMs });
  arena.clock.advance(arena.clock.now().until(Temporal.Instant.from(told.now)));
  const requests = await arena.requests();
  const overMinimum = requests / Math.ceil(records / 100);
  const peak = told.further['peak MB'];
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
    measured: { ...told.consumption, requests },
    further: {
      'requests over the minimum': Number(overMinimum.toFixed(3)),
      ...told.further,
      'processor s': Number((told.processorMs / 1_000).toFixed(1)),
      ticks: told.ticks,
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
const mostCalls = 1.02;

/** So many events in the outbox, as an outage of SNS leaves them, delivered by a tick. */
export async function pendingDelivered(
  arena: Arena,
  count: number,
  smaller?: ScoreRow,
): Promise<ScoreRow> {
  const ids = Array.from({ length: count }, (_, index) => firstId + 10 * count + index);
  await owe(arena.ticker.ledger, arena.name, ids, arena.clock.now());
  await arena.control('DELETE', '/requests');
  const { consumption, further } = await inProcess(arena, { job: 'tick' });
  const before = peakIn(smaller);
  return rowOf(
    `${count.toLocaleString('en')} pending events delivered`,
    ids.map(happened('created')),
    { ...consumption, requests: await arena.requests(), heard: await arena.heard() },
    {
      text: `SNS calls ≤ ${mostCalls} × ⌈n / 10⌉${before === undefined ? '' : ', memory not growing'}`,
      isMet: ({ publishes }) =>
        publishes <= mostCalls * Math.ceil(count / 10) &&
        (before === undefined || further['peak MB'] <= before * mostGrowth.outbox),
      further,
    },
  );
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
    const time = at.subtract({ milliseconds: ids.length - index });
    const event = certificationEvent({
      ...{ integration, type: 'certification.created', fields: 'all', changed: [], late: false },
      ...{ assessment: change.assessment, revision: change.revision, time },
    });
    return ledger.commit(change, event, time, 'pending');
  };
  await pMap(sightingsOf(rows, new Map(), salt), commit, { concurrency: 32 });
  const lease = { owner: 'bench', until: at.add({ seconds: 1 }) };
  if ((await ledger.takeLease(lease, at)) === undefined) throw new Error('no lease');
  await ledger.saveState({ heartbeat: at.toString(), ...noLease }, lease);
}
