import * as z from 'zod';
import { seededRandom } from '../local/partner-sandbox/random.ts';
import { type Arena, type Contender, contenders, type Measured } from './arena.ts';
import { type Happened, isFaultless, type ScoreRow, scoreOf, sumOf, worstOf } from './score.ts';
import { listDay, spreadAudits } from './seed.ts';
import { today } from './settings.ts';

const added = z.union([
  z.object({ ids: z.array(z.int()) }).transform(({ ids }) => ids),
  z.object({ id: z.int() }).transform(({ id }) => [id]),
]);
const happened = (what: 'created' | 'withdrawn') => (id: number) => ({
  type: `certification.${what}`,
  subject: String(id),
});

/** Runs a tick every minute until nothing is owed and no audit is due. */
export async function settle(arena: Pick<Arena, 'run' | 'ticker' | 'clock'>): Promise<void> {
  for (;;) {
    await arena.run('ours');
    const state = await arena.ticker.ledger.state();
    const now = arena.clock.now().epochMilliseconds;
    if (
      state.baseline.status === 'completed' &&
      state.dirtySince === undefined &&
      now < state.dueAt
    )
      return;
    arena.clock.advance({ minutes: 1 });
  }
}

/** A tick without changes and without due audits. */
export async function quietTick(arena: Arena, label: string): Promise<ScoreRow[]> {
  const rows: ScoreRow[] = [];
  for (const contender of contenders) {
    const measured = await arena.measure(contender);
    const score = scoreOf([], measured.heard);
    const { requests, readUnits, writeUnits, publishes } = measured;
    rows.push({
      case: `quiet tick, history of ${label}`,
      contender,
      measured,
      score,
      ...(contender === 'ours' && {
        target: {
          text: '1 request, ≤ 1 read unit, ≤ 1 write unit, 0 publishes',
          passed:
            requests === 1 &&
            readUnits <= 1 &&
            writeUnits <= 1 &&
            publishes === 0 &&
            isFaultless(score),
        },
      }),
    });
  }
  return rows;
}

/** The costs of an hour of ticks in the steady state, less those of as many quiet ticks. */
export async function auditsOfAnHour(arena: Arena, label: string): Promise<ScoreRow[]> {
  const { ledger } = arena.ticker;
  const quiet = await arena.measure('ours');
  await spreadAudits(ledger, arena.clock);
  const ticks: Measured[] = [];
  for (let minute = 0; minute < 60; minute++) {
    arena.clock.advance({ minutes: 1 });
    ticks.push(await arena.measure('ours'));
  }
  const hour = sumOf(ticks);
  const score = scoreOf([], hour.heard);
  const measured = {
    ...hour,
    requests: hour.requests - 60 * quiet.requests,
    readUnits: hour.readUnits - 60 * quiet.readUnits,
    writeUnits: hour.writeUnits - 60 * quiet.writeUnits,
  };
  return [
    {
      case: `audits add in an hour, history of ${label}`,
      contender: 'ours',
      measured,
      score,
      target: { text: 'nothing announced', passed: isFaultless(score) },
      further: { 'most requests in a tick': Math.max(...ticks.map(({ requests }) => requests)) },
    },
  ];
}

/** Completes so many assessments today since the last run. */
export async function newToday(
  arena: Arena,
  count: number,
  label: string,
  mostRequests: number,
): Promise<ScoreRow[]> {
  const ids = await addOn(arena, today, count);
  const rows: ScoreRow[] = [];
  for (const contender of contenders) {
    const measured = await arena.measure(contender);
    const score = scoreOf(ids.map(happened('created')), measured.heard);
    const passed = measured.requests <= mostRequests && isFaultless(score);
    rows.push({
      case: `${count} new today, ${label}`,
      contender,
      measured,
      score,
      ...(contender === 'ours' && { target: { text: `≤ ${mostRequests} requests`, passed } }),
    });
  }
  return rows;
}

/** Backdates one assessment to a random day of the history, several times. The result is the worst run. */
export async function backdated(
  arena: Arena,
  label: string,
  places: readonly string[],
): Promise<ScoreRow[]> {
  const most = { requests: 25, text: 'in the same tick' };
  return anywhere(arena, `1 backdated within ${label}`, places, most, [], async (day) => {
    const ids = await addOn(arena, day, 1);
    return ids.map(happened('created'));
  });
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
  const most = { requests: 50, text: 'after two looks, audits included' };
  return anywhere(arena, `1 removed ten years back, ${label}`, places, most, [11], async (day) => {
    const [first] = await listDay(arena.ticker.client, day);
    if (first === undefined) throw new Error(`nobody to remove on ${day}`);
    await arena.control('DELETE', `/assessments/${first.id}`);
    return [happened('withdrawn')(first.id)];
  });
}

async function anywhere(
  arena: Arena,
  label: string,
  places: readonly string[],
  most: { readonly requests: number; readonly text: string },
  /** Minutes between two later runs. */
  later: readonly number[],
  happen: (day: string) => Promise<Happened[]>,
): Promise<ScoreRow[]> {
  const runs = new Map(contenders.map((contender) => [contender, [] as Measured[]] as const));
  const truth: Happened[] = [];
  for (const place of places) {
    truth.push(...(await happen(place)));
    const looks = new Map<Contender, Measured[]>();
    for (const minutes of [0, ...later]) {
      arena.clock.advance({ minutes });
      for (const contender of contenders)
        looks.set(contender, [...(looks.get(contender) ?? []), await arena.measure(contender)]);
    }
    for (const [contender, measured] of looks) runs.get(contender)?.push(sumOf(measured));
  }
  return contenders.map((contender) => {
    const all = runs.get(contender) ?? [];
    const measured = worstOf(all);
    const score = scoreOf(truth, sumOf(all).heard);
    const passed = measured.requests <= most.requests && isFaultless(score);
    return {
      case: `${label} (worst of ${places.length})`,
      contender,
      measured,
      score,
      ...(contender === 'ours' && {
        target: { text: `≤ ${most.requests} requests, ${most.text}`, passed },
      }),
    };
  });
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
  const runs = new Map(contenders.map((contender) => [contender, [] as Measured[]] as const));
  const minutes = async (count: number) => {
    for (let minute = 0; minute < count; minute++) {
      for (const contender of contenders) runs.get(contender)?.push(await arena.measure(contender));
      arena.clock.advance({ minutes: 1 });
    }
  };
  await arena.control('PATCH', '/switches', { churn: 0.3, backdated: 0.2 });
  await minutes(length);
  await arena.control('PATCH', '/switches', { churn: 0 });
  await minutes(5);
  const withoutAudits = new Map([...runs].map(([contender, all]) => [contender, sumOf(all)]));
  arena.clock.advance({ hours: 24 });
  await minutes(20);

  const after = await idsOf(arena);
  const arrived = [...after].filter((id) => !before.has(id)).map(happened('created'));
  const gone = [...before].filter((id) => !after.has(id)).map(happened('withdrawn'));
  return contenders.flatMap((contender) => {
    const { heard } = sumOf(runs.get(contender) ?? []);
    const of = (truth: readonly Happened[]) => {
      const { happened, lost, twice } = scoreOf(truth, heard);
      // An assessment that came and left in between may be announced or not.
      return { happened, lost, twice, untrue: 0 };
    };
    const measured = withoutAudits.get(contender);
    const scores = { arrived: of(arrived), gone: of(gone) };
    return Object.entries(scores).map(([what, score]) => ({
      case: `${length} minutes of unrest, unstable ties: ${what}`,
      contender,
      ...(measured && { measured }),
      score,
      ...(contender === 'ours' && {
        target: { text: '0 lost, 0 twice', passed: isFaultless(score) },
      }),
    }));
  });
}

async function idsOf(arena: Arena): Promise<Set<number>> {
  const ids = new Set<number>();
  await arena.control('PATCH', '/switches', { unstableTies: false });
  for (let count = 1, offset = 0; offset < count; offset += 100) {
    const page = await arena.ticker.client.list({ sort: 'certified_on', page: 100, offset });
    count = page.meta.count;
    for (const { id } of page.assessments) ids.add(id);
  }
  await arena.control('PATCH', '/switches', { unstableTies: true });
  return ids;
}

async function addOn(arena: Arena, certified_on: string, count: number): Promise<number[]> {
  return added.parse(await arena.control('POST', '/assessments', { count, certified_on }));
}
