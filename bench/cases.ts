import * as z from 'zod';
import { startPartnerSandbox } from '../local/partner-sandbox/index.ts';
import { seededRandom } from '../local/partner-sandbox/random.ts';
import { ManualClock } from '../test/scaffold/clock.ts';
import type { Arena } from './arena.ts';
import type { AwsReady } from './child.ts';
import {
  type Goal,
  type Happened,
  happened,
  type Measured,
  rowOf,
  type ScoreRow,
  sumOf,
} from './score.ts';
import { allRows, spreadAudits } from './seed.ts';
import { now, timeZone, today } from './settings.ts';
import { Subscriber, topicsOf } from './subscriber.ts';
import { createTicker } from './ticker.ts';

const added = z.union([
  z.object({ ids: z.array(z.int()) }).transform(({ ids }) => ids),
  z.object({ id: z.int() }).transform(({ id }) => [id]),
]);

/** Runs a tick every minute until nothing is owed and no audit is due. */
export async function settle({ ticker, clock }: Pick<Arena, 'ticker' | 'clock'>): Promise<void> {
  for (;;) {
    await ticker.tick();
    const { baseline, dirtySince, dueAt } = await ticker.ledger.state();
    const isSettled = baseline.status === 'completed' && dirtySince === undefined;
    if (isSettled && clock.now().epochMilliseconds < dueAt) return;
    clock.advance({ minutes: 1 });
  }
}

/** So many ticks, one a minute. */
export async function minutesOf(arena: Arena, count: number): Promise<Measured[]> {
  const all: Measured[] = [];
  for (let minute = 0; minute < count; minute++) {
    all.push(await arena.measure());
    arena.clock.advance({ minutes: 1 });
  }
  return all;
}

/** A tick without changes and without due audits. */
export async function quietTick(arena: Arena, label: string): Promise<ScoreRow> {
  return rowOf(`quiet tick, history of ${label}`, [], await arena.measure(), {
    text: '1 request, ≤ 1 read unit, ≤ 1 write unit, 0 publishes',
    isMet: ({ requests, readUnits, writeUnits, publishes }) =>
      requests === 1 && readUnits <= 1 && writeUnits <= 1 && publishes === 0,
  });
}

/** The costs of an hour of ticks in the steady state, less those of as many quiet ticks. */
export async function auditsOfAnHour(arena: Arena, label: string): Promise<ScoreRow> {
  const quiet = await arena.measure();
  await spreadAudits(arena.ticker.ledger, arena.clock);
  arena.clock.advance({ minutes: 1 });
  const ticks = await minutesOf(arena, 60);
  const hour = sumOf(ticks);
  const added = {
    ...hour,
    requests: hour.requests - 60 * quiet.requests,
    readUnits: hour.readUnits - 60 * quiet.readUnits,
    writeUnits: hour.writeUnits - 60 * quiet.writeUnits,
  };
  return rowOf(`audits add in an hour, history of ${label}`, [], added, {
    text: 'nothing announced',
    further: { 'most requests in a tick': Math.max(...ticks.map(({ requests }) => requests)) },
  });
}

/** Completes so many assessments today since the last tick. */
export async function newToday(arena: Arena, count: number, label: string): Promise<ScoreRow> {
  const ids = await addOn(arena, today, count);
  const name = `${count} new today, ${label}`;
  return rowOf(name, ids.map(happened('created')), await arena.measure(), mostRequests(2));
}

function mostRequests(most: number, more = ''): Goal {
  return { text: `≤ ${most} requests${more}`, isMet: ({ requests }) => requests <= most };
}

/** Backdates one assessment to each of these days of the history. The result is the worst tick. */
export async function backdated(
  arena: Arena,
  label: string,
  places: readonly string[],
): Promise<ScoreRow> {
  const goal = mostRequests(25, ', in the same tick');
  return anywhere(`1 backdated within ${label}`, places, goal, async (day) => {
    const ids = await addOn(arena, day, 1);
    return { truth: ids.map(happened('created')), looks: [await arena.measure()] };
  });
}

/**
 * Removes one assessment of each of these days. Ten ticks later comes the second look; the nine between them are not
 * counted. The result is the worst.
 */
export async function removed(
  arena: Arena,
  label: string,
  places: readonly string[],
): Promise<ScoreRow> {
  const goal = mostRequests(50, ', after two looks, audits included');
  return anywhere(`1 removed ten years back, ${label}`, places, goal, async (day) => {
    const [first] = await allRows(arena.ticker.client, { start_date: day, end_date: day });
    if (first === undefined) throw new Error(`nobody to remove on ${day}`);
    await arena.control('DELETE', `/assessments/${first.id}`);
    const [look] = await minutesOf(arena, 1);
    const between = await minutesOf(arena, 9);
    const looks = [look, ...(await minutesOf(arena, 2))].flatMap((one) => one ?? []);
    return { truth: [happened('withdrawn')(first.id)], looks, heard: sumOf(between).heard };
  });
}

async function anywhere(
  label: string,
  places: readonly string[],
  goal: Goal,
  happen: (
    day: string,
  ) => Promise<{ truth: Happened[]; looks: Measured[]; heard?: Measured['heard'] }>,
): Promise<ScoreRow> {
  const all: Measured[] = [];
  const truth: Happened[] = [];
  for (const place of places) {
    const { truth: here, looks, heard = [] } = await happen(place);
    const sum = sumOf(looks);
    truth.push(...here);
    all.push({ ...sum, heard: [...heard, ...sum.heard] });
  }
  const [worst = sumOf([])] = all.toSorted((a, b) => b.requests - a.requests);
  const measured = { ...worst, heard: sumOf(all).heard };
  return rowOf(`${label} (worst of ${places.length})`, truth, measured, goal);
}

/** The same days in every run. */
export function randomDays(days: readonly string[], count: number): string[] {
  const random = seededRandom(4, 'bench');
  return Array.from({ length: count }, () => random.pick(days));
}

export async function addOn(arena: Arena, certified_on: string, count: number): Promise<number[]> {
  return added.parse(await arena.control('POST', '/assessments', { count, certified_on }));
}

/** A pulse, two for the history, and one for the recent window in a quarter of an hour. */
const mostPerMinute = 3.1;

/** Changes e-mail addresses at random in the history. Neither the total nor the newest page shows that. */
export async function historyEdits(arena: Arena, label: string, edits: number): Promise<ScoreRow> {
  const list = (offset: number) =>
    arena.ticker.client.list({ sort: 'certified_on', order: 'ASC', page: 1, offset });
  const { count } = (await list(0)).meta;
  const edited: number[] = [];
  for (let n = 0; n < edits; n++) {
    const { assessments } = await list(Math.floor(((n + 0.5) * count) / edits));
    for (const { id } of assessments) edited.push(id);
  }
  const set = { email: 'changed@example.org' };
  for (const id of edited) await arena.control('POST', `/assessments/${id}/spoil`, { set });
  const hour = sumOf(await minutesOf(arena, 60));
  // An hour has five or six batches of audits.
  const longer = sumOf(await minutesOf(arena, 120));
  const perMinute = (hour.requests + longer.requests) / 180;
  const name = `${edits} edits anywhere in a history of ${label}, an hour`;
  return rowOf(name, edited.map(happened('updated')), hour, {
    text: '≤ 3 requests a minute (the recent window apart), found within the hour',
    isMet: () => perMinute <= mostPerMinute,
    further: { 'requests a minute, in three hours': Number(perMinute.toFixed(2)) },
  });
}

/** The first sync at a host that answers so many requests a minute, and refuses more with 429, without Retry-After. */
export async function slowPartner(
  aws: AwsReady,
  records: number,
  requestsPerMinute: number,
): Promise<ScoreRow> {
  const clock = new ManualClock(now);
  const wanted = { records, until: today, timeZone, clock, requestsPerMinute };
  const sandbox = await startPartnerSandbox(wanted);
  const people = await Subscriber.to('slow', aws);
  const partner = { url: sandbox.url, credentials: sandbox.credentials };
  const topics = topicsOf(people, people);
  const ticker = createTicker({ partner, world: 'slow', clock, aws, topics });
  const least = Math.ceil(records / 100) / requestsPerMinute;
  let minutes = 0;
  for (; minutes < 10 * least; minutes++) {
    await ticker.tick();
    if ((await ticker.ledger.state()).baseline.status === 'completed') break;
    clock.advance({ minutes: 1 });
  }
  const requests = sandbox.requests.filter(({ path }) => path.startsWith('/api/')).length;
  const measured = { ...ticker.meter.take(), requests };
  await ticker.close();
  await sandbox.close();
  people.close();
  return {
    case: `baseline of ${records.toLocaleString('en')} at ${requestsPerMinute} requests a minute`,
    measured,
    further: { minutes, 'minutes that the least requests take': Number(least.toFixed(1)) },
    target: { text: '≤ 1.5 × these minutes, no tick fails', passed: minutes <= 1.5 * least },
  };
}
