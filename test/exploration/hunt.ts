import type { BrokenParts } from '../simulation/mutants.ts';
import { stepsOf } from './choices.ts';
import { type Beginning, begin, explore, type Finding, type Task } from './explore.ts';
import { type Found, shareOut } from './search.ts';
import { type Budget, type Memory, nothing, Seen } from './seen.ts';

/** Budgets whose executions all together take seconds. */
export interface Rung extends Beginning {
  readonly ticks: number;
}

export interface Kill {
  readonly rung: Rung;
  /** The shortest finding. Executions do not continue from known states, so a shorter one may exist. */
  readonly finding: Finding;
}

/** Two certifications of one day, and pages of two rows. */
export const within = (ticks: number, budget: Partial<Budget>, isNew = false): Rung => ({
  ticks,
  isNew,
  born: [0, 0],
  rowsOfPage: 2,
  budget: { ...nothing, ...budget },
});

/** From the smallest budgets up: each one shows findings that those before it do not. */
const ladder: readonly Rung[] = [
  within(0, {}),
  within(1, { moves: 1 }),
  within(1, { moves: 1, waits: 1 }),
  within(1, { moves: 1, faults: 1 }),
  within(1, { moves: 1, deaths: 1 }),
  within(1, { moves: 1, overlaps: 1 }),
  within(1, { moves: 2 }),
  within(1, { moves: 1 }, true),
  within(2, { moves: 2, waits: 1 }),
  within(2, { moves: 1, faults: 1, deaths: 1 }),
  within(1, { moves: 2, overlaps: 1 }),
  within(2, { moves: 1, deaths: 1, overlaps: 2 }),
  within(1, { moves: 2, deaths: 1 }),
  within(1, { moves: 1, faults: 1 }, true),
  within(2, { moves: 2, faults: 2 }),
  within(3, { moves: 1, faults: 2, deaths: 1, waits: 1 }),
];

export interface Hunted {
  readonly kill?: Kill;
  /** The number of earlier budgets that were not completed in time. Their rest is unknown. */
  readonly unfinished: number;
}

const room = 2_000_000;
const executions = 500;

/** The first budgets with a finding. @param endsAfterMs the time limit of each */
export async function hunt(broken: BrokenParts, endsAfterMs: number): Promise<Hunted> {
  let unfinished = 0;
  for (const rung of ladder) {
    const { findings, left } = await everyFinding(rung, broken, performance.now() + endsAfterMs);
    const [finding] = findings.toSorted((a, b) => lengthOf(a) - lengthOf(b));
    if (finding) return { kill: { rung, finding }, unfinished };
    if (left > 0) unfinished += 1;
  }
  return { unfinished };
}

const lengthOf = ({ trail }: Finding) => stepsOf(trail).length;

/** All findings within the budgets, one after the other, until the time is over. */
export async function everyFinding(
  { ticks, ...beginning }: Rung,
  broken: BrokenParts,
  endsAt: number,
  seen: Memory = new Seen(beginning.budget, room),
): Promise<Found> {
  const begun = await begin(beginning, broken);
  const alone = (task: Task) => explore(begun, task, seen, broken);
  return shareOut({ trail: '', ticks, executions }, [alone], endsAt, () => true);
}
