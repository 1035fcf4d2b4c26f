import { type Happened, happened, type Score, scoreOf } from '../score.ts';
import { today } from '../settings.ts';
import type { Trial } from './trial.ts';
import { verdictOfUnrest } from './verdict.ts';
import type { PeerWorld } from './world.ts';

/** A case for all contenders, on a world of the same seed with the same changes. */
export interface Case {
  /** For `--only`. */
  readonly key: string;
  readonly text: string;
  readonly records: number;
  /** Whether the first records are known already. */
  readonly isStarted: boolean;
  /** Only for contenders that can read everything in a poll. */
  readonly isOfFullReads?: boolean;
  /** The case is about withdrawals. A contender that cannot find any is left out. */
  readonly isOfWithdrawals?: boolean;
  act(trial: Trial): Promise<Score>;
}

export interface Sizes {
  readonly history: number;
  readonly firstSync: number;
  readonly unrest: number;
  readonly reads: number;
  readonly kills: number;
}

const halfOld = 5;
const calmPolls = 4;
/** The limit for killing one poll: a poll that fails before its first request cannot be killed. */
const mostTries = 50;
const daysBack = { inWindow: '2026-11-18', tenDays: '2026-11-10', years: '2021-11-19' };

export function casesOf(sizes: Sizes): readonly Case[] {
  const count = (n: number) => n.toLocaleString('en');
  const started = { records: sizes.history, isStarted: true } as const;
  return [
    {
      ...started,
      key: 'quiet',
      text: 'quiet poll',
      act: changed([1], async () => []),
    },
    ...[
      { key: 'news', text: '10 new today', day: today },
      { key: 'backdated-days', text: '10 backdated by 10 days', day: daysBack.tenDays },
      { key: 'backdated-years', text: '10 backdated by 5 years', day: daysBack.years },
    ].map(({ day, ...one }) => ({
      ...{ ...started, ...one },
      act: changed([1], async (world) => (await world.add(day, 10)).map(happened('created'))),
    })),
    {
      ...started,
      key: 'withdrawn',
      text: '10 withdrawn, 5 of them of the last days; 2 polls',
      isOfWithdrawals: true,
      act: changed([1, 11], async (world) => {
        const ids = await someOldSomeNew(world);
        for (const id of ids) await world.remove(id);
        return ids.map(happened('withdrawn'));
      }),
    },
    {
      ...started,
      key: 'edited',
      text: '10 edited, 5 of them of the last days; 4 polls in an hour',
      act: changed([15, 15, 15, 15], async (world) => {
        const ids = await someOldSomeNew(world);
        for (const id of ids) await world.edit(id);
        return ids.map(happened('updated'));
      }),
    },
    {
      ...started,
      key: 'moved',
      text: '10 moved, 5 of them into the last days; 4 polls in an hour',
      act: changed([15, 15, 15, 15], async (world) => {
        const ids = spread(await world.ids(), 2 * halfOld, 0.9);
        for (const [index, id] of ids.entries())
          await world.move(id, index < halfOld ? daysBack.inWindow : daysBack.years);
        return ids.map(happened('updated'));
      }),
    },
    {
      key: 'unrest',
      text: `unstable ties and churn, ${sizes.reads} polls; then ${calmPolls} without churn`,
      records: sizes.unrest,
      isStarted: true,
      isOfFullReads: true,
      act: (trial) => unrest(trial, sizes.reads),
    },
    {
      ...started,
      key: 'empty',
      text: 'an empty answer for 2 polls, then 2 as before',
      act: empty,
    },
    {
      key: 'first-sync',
      text: `first sync of ${count(sizes.firstSync)}`,
      records: sizes.firstSync,
      isStarted: false,
      act: firstSync,
    },
    {
      ...started,
      key: 'killed',
      text: `killed ${sizes.kills} times amid news, then 3 polls`,
      act: (trial) => killed(trial, sizes.kills),
    },
  ];
}

/** Makes a change, and then polls after each of these minutes. */
function changed(minutes: readonly number[], change: (world: PeerWorld) => Promise<Happened[]>) {
  return async (trial: Trial) => {
    const truth = await change(trial.world);
    for (const after of minutes) await trial.poll(after);
    return scoreOf(truth, trial.heard);
  };
}

/** Ids of the newest days, and of all other days. */
async function someOldSomeNew(world: PeerWorld): Promise<number[]> {
  const ids = await world.ids();
  return [...ids.slice(-halfOld), ...spread(ids, halfOld, 0.9)];
}

/** So many ids, spread evenly over the oldest share of them. */
function spread(ids: readonly number[], count: number, share: number): number[] {
  const step = (ids.length * share) / count;
  return Array.from({ length: count }, (_, n) => ids[Math.floor((n + 0.5) * step)] ?? 0);
}

async function empty(trial: Trial): Promise<Score> {
  const show = await trial.world.hideAll();
  await trial.poll(1);
  await trial.poll(11);
  await show();
  await trial.poll(1);
  await trial.poll(11);
  return scoreOf([], trial.heard);
}

async function firstSync(trial: Trial): Promise<Score> {
  const ids = await trial.world.ids();
  do await trial.poll(1);
  while (await trial.watcher.isBehind());
  const known = await trial.watcher.known(ids);
  // A first sync may announce its records or take them as known; both count as found.
  const lost = ids.filter((id) => !known.has(id)).length;
  return { happened: ids.length, lost, twice: 0, untrue: 0 };
}

/** A poll every quarter of an hour, with changes between requests. Four polls follow with unstable ties only. */
async function unrest(trial: Trial, reads: number): Promise<Score> {
  const { world } = trial;
  const calm = { churn: 0, backdated: 0.2, unstableTies: false };
  const set = (switches: Partial<typeof calm>) =>
    world.control('PATCH', '/switches', { ...calm, ...switches });
  const looks: Set<number>[] = [];
  const look = async () => {
    await set({});
    looks.push(new Set(await world.ids()));
  };
  await look();
  for (let read = 0; read < reads; read++) {
    await set({ churn: 0.3, unstableTies: true });
    await trial.poll(15);
    await look();
  }
  await set({ unstableTies: true });
  for (let poll = 0; poll < calmPolls; poll++) await trial.poll(15);
  return verdictOfUnrest(looks, trial.heard);
}

/** Kills polls with news at moments that are spread evenly over a poll, after its first request. */
async function killed(trial: Trial, times: number): Promise<Score> {
  const { world } = trial;
  const truth: Happened[] = [];
  const news = async () => {
    truth.push(...(await world.add(today, 10)).map(happened('created')));
  };
  await news();
  let length = await trial.lengthOfPoll(1);
  for (let kills = 0; kills < times; kills++) {
    await news();
    // The lease of a dead tick lasts less than two minutes. If a poll ends before it is killed, the next one is tried.
    for (let tries = 1; ; tries++) {
      if (await trial.killedPoll(2, ((kills + 0.5) / times) * length)) break;
      if (tries === mostTries) throw new Error(`No poll of ${mostTries} was at work to be killed.`);
      length *= 0.9;
    }
  }
  for (let poll = 0; poll < 3; poll++) await trial.poll(2);
  return scoreOf(truth, trial.heard);
}
