import * as z from 'zod';
import { seededRandom } from '../local/partner-sandbox/random.ts';
import { type Arena, type Contender, contenders, type Measured } from './arena.ts';
import {
  type Goal,
  type Happened,
  happened,
  type Runs,
  rowsOf,
  type ScoreRow,
  scoreOf,
  sumOf,
  together,
  worstOf,
} from './score.ts';
import { allRows, spreadAudits } from './seed.ts';
import { today } from './settings.ts';

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

/** One run of each contender. */
export async function inTurn(arena: Arena): Promise<Runs> {
  const runs = new Map<Contender, Measured>();
  for (const contender of contenders) runs.set(contender, await arena.measure(contender));
  return runs;
}

/** A run of each contender a minute. */
export async function minutesOf(arena: Arena, count: number): Promise<Runs[]> {
  const all: Runs[] = [];
  for (let minute = 0; minute < count; minute++) {
    all.push(await inTurn(arena));
    arena.clock.advance({ minutes: 1 });
  }
  return all;
}

/** A tick without changes and without due audits. */
export async function quietTick(arena: Arena, label: string): Promise<ScoreRow[]> {
  return rowsOf(`quiet tick, history of ${label}`, [], await inTurn(arena), {
    text: '1 request, ≤ 1 read unit, ≤ 1 write unit, 0 publishes',
    isMet: ({ requests, readUnits, writeUnits, publishes }) =>
      requests === 1 && readUnits <= 1 && writeUnits <= 1 && publishes === 0,
  });
}

/** The costs of an hour of ticks in the steady state, less those of as many quiet ticks. */
export async function auditsOfAnHour(arena: Arena, label: string): Promise<ScoreRow[]> {
  const quiet = await arena.measure('ours');
  await spreadAudits(arena.ticker.ledger, arena.clock);
  const ticks: Measured[] = [];
  for (let minute = 0; minute < 60; minute++) {
    arena.clock.advance({ minutes: 1 });
    ticks.push(await arena.measure('ours'));
  }
  const hour = sumOf(ticks);
  const added = {
    ...hour,
    requests: hour.requests - 60 * quiet.requests,
    readUnits: hour.readUnits - 60 * quiet.readUnits,
    writeUnits: hour.writeUnits - 60 * quiet.writeUnits,
  };
  return rowsOf(`audits add in an hour, history of ${label}`, [], new Map([['ours', added]]), {
    text: 'nothing announced',
    further: { 'most requests in a tick': Math.max(...ticks.map(({ requests }) => requests)) },
  });
}

/** Completes so many assessments today since the last run. */
export async function newToday(arena: Arena, count: number, label: string): Promise<ScoreRow[]> {
  const ids = await addOn(arena, today, count);
  const name = `${count} new today, ${label}`;
  return rowsOf(name, ids.map(happened('created')), await inTurn(arena), mostRequests(2));
}

function mostRequests(most: number, more = ''): Goal {
  return { text: `≤ ${most} requests${more}`, isMet: ({ requests }) => requests <= most };
}

/** Backdates one assessment to a random day of the history, several times. The result is the worst run. */
export async function backdated(
  arena: Arena,
  label: string,
  places: readonly string[],
): Promise<ScoreRow[]> {
  const goal = mostRequests(25, ', in the same tick');
  return anywhere(arena, `1 backdated within ${label}`, places, goal, [], async (day) =>
    (await addOn(arena, day, 1)).map(happened('created')),
  );
}

/**
 * Removes one assessment of each of these days, one after the other. The second look follows ten minutes later. The
 * result is the worst run.
 */
export async function removed(
  arena: Arena,
  label: string,
  places: readonly string[],
): Promise<ScoreRow[]> {
  const goal = mostRequests(50, ', after two looks, audits included');
  return anywhere(arena, `1 removed ten years back, ${label}`, places, goal, [11], async (day) => {
    const [first] = await allRows(arena.ticker.client, { start_date: day, end_date: day });
    if (first === undefined) throw new Error(`nobody to remove on ${day}`);
    await arena.control('DELETE', `/assessments/${first.id}`);
    return [happened('withdrawn')(first.id)];
  });
}

async function anywhere(
  arena: Arena,
  label: string,
  places: readonly string[],
  goal: Goal,
  /** Minutes between two later runs. */
  later: readonly number[],
  happen: (day: string) => Promise<Happened[]>,
): Promise<ScoreRow[]> {
  const all: Runs[] = [];
  const truth: Happened[] = [];
  for (const place of places) {
    truth.push(...(await happen(place)));
    const looks: Runs[] = [];
    for (const minutes of [0, ...later]) {
      arena.clock.advance({ minutes });
      looks.push(await inTurn(arena));
    }
    all.push(together(looks));
  }
  return rowsOf(`${label} (worst of ${places.length})`, truth, together(all, worstOf), goal);
}

/** The same days in every run. */
export function randomDays(days: readonly string[], count: number): string[] {
  const random = seededRandom(4, 'bench');
  return Array.from({ length: count }, () => random.pick(days));
}

/**
 * A tick a minute at a host that orders ties as it likes and on which records arrive (some
 * backdated), move, leave and return between requests; then quiet and a day's audits. An event must tell of each
 * record that is there, or gone, for good.
 */
export async function unrest(arena: Arena, length: number): Promise<ScoreRow[]> {
  const before = await idsOf(arena);
  await arena.control('PATCH', '/switches', { churn: 0.3, backdated: 0.2 });
  const runs = await minutesOf(arena, length);
  await arena.control('PATCH', '/switches', { churn: 0 });
  runs.push(...(await minutesOf(arena, 5)));
  const withoutAudits = together(runs);
  arena.clock.advance({ hours: 24 });
  const all = together([...runs, ...(await minutesOf(arena, 20))]);
  const after = await idsOf(arena);
  // The events of all, with the costs before the audits.
  const shown: Runs = new Map(
    [...withoutAudits].map(([contender, measured]) => [
      contender,
      { ...measured, heard: all.get(contender)?.heard ?? [] },
    ]),
  );
  const name = `${length} minutes of unrest, unstable ties`;
  const goal = { text: '0 lost, 0 twice' };
  // An assessment that came and left in between may be announced or not.
  const judge: typeof scoreOf = (truth, heard) => ({ ...scoreOf(truth, heard), untrue: 0 });
  const arrived = [...after].filter((id) => !before.has(id)).map(happened('created'));
  const gone = [...before].filter((id) => !after.has(id)).map(happened('withdrawn'));
  return [
    ...rowsOf(`${name}: arrived`, arrived, shown, goal, judge),
    ...rowsOf(`${name}: gone`, gone, shown, goal, judge),
  ];
}

async function idsOf(arena: Arena): Promise<Set<number>> {
  await arena.control('PATCH', '/switches', { unstableTies: false });
  const rows = await allRows(arena.ticker.client, {});
  await arena.control('PATCH', '/switches', { unstableTies: true });
  return new Set(rows.map(({ id }) => id));
}

export async function addOn(arena: Arena, certified_on: string, count: number): Promise<number[]> {
  return added.parse(await arena.control('POST', '/assessments', { count, certified_on }));
}
