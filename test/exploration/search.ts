import { hire } from '../simulation/crew.ts';
import type { Beginning, Explored, Finding, Task } from './explore.ts';
import { Seen } from './seen.ts';
import type { Hire } from './worker.ts';

export interface Search {
  readonly beginning: Beginning;
  /** The number of consecutive ticks with events. */
  readonly ticks: number;
  readonly workers: number;
  /** The number of distinct states that fit into the memory. */
  readonly room: number;
  /** Milliseconds after which no task is begun any more. */
  readonly endsAfterMs: number;
  readonly mutant?: string | undefined;
}

export interface Found {
  readonly executions: number;
  readonly states: number;
  /** The highest number of events in an execution. */
  readonly depth: number;
  readonly findings: readonly Finding[];
  /** Tasks that were not carried out: 0 if all executions within the budgets were run. */
  readonly left: number;
}

/** The executions of one task. Other workers take the rest. */
const executionsOfTask = 2_000;
/** The branches that one task returns. */
const branchesOfTask = 8;

/** Carries out one task after the other. */
type Explore = (task: Task) => Promise<Explored>;

/**
 * Runs all executions within the budgets with these workers.
 *
 * @param tell called after each task; it returns whether to continue
 */
export async function search(
  { beginning, ticks, workers, room, endsAfterMs, mutant }: Search,
  tell: (so: Found) => boolean,
): Promise<Found> {
  const seen = new Seen(beginning.budget, room).buffer;
  const workerData: Hire = { beginning, seen, mutant };
  const resourceLimits = { maxYoungGenerationSizeMb: 128 };
  const url = new URL('./worker.ts', import.meta.url);
  const crew = Array.from({ length: workers }, () =>
    hire<Task, Explored>(url, { workerData, resourceLimits }),
  );
  const first = { trail: '', ticks, executions: executionsOfTask };
  const endsAt = performance.now() + endsAfterMs;
  try {
    const explorers = crew.map(({ give }) => give);
    return await shareOut(first, explorers, endsAt, tell);
  } finally {
    await Promise.all(crew.map(({ dismiss }) => dismiss()));
  }
}

/**
 * Tasks are shared out, the last one first, until none is left and none is under way that could add
 * more.
 */
export function shareOut(
  first: Task,
  explorers: readonly Explore[],
  endsAt: number,
  tell: (so: Found) => boolean,
): Promise<Found> {
  const { promise, resolve, reject } = Promise.withResolvers<Found>();
  let so: Found = { executions: 0, states: 0, depth: 0, findings: [], left: 1 };
  const waiting = [first];
  const free = [...explorers];
  let isWanted = true;
  const work = async (task: Task, explore: Explore) => {
    const done = await explore(task);
    free.push(explore);
    waiting.push(...furtherTasks(task, done));
    so = added(so, done, waiting.length);
    isWanted &&= tell(so);
    handOut();
  };
  const handOut = () => {
    while (free.length > 0 && waiting.length > 0 && isWanted && performance.now() < endsAt) {
      const [task, explore] = [waiting.pop(), free.pop()];
      if (task && explore) work(task, explore).catch(reject);
    }
    if (free.length === explorers.length) resolve(so);
  };
  handOut();
  return promise;
}

function furtherTasks(task: Task, { next, branches }: Explored): Task[] {
  const shares = Map.groupBy(branches, (_, nth) => Math.floor(nth / branchesOfTask));
  const { ticks, executions } = task;
  return [
    ...next.map((trail) => ({ trail, ticks: ticks - 1, executions })),
    ...[...shares.values()].map((branches) => ({ ...task, branches })),
  ];
}

function added(so: Found, done: Explored, left: number): Found {
  return {
    executions: so.executions + done.executions,
    states: so.states + done.states,
    depth: Math.max(so.depth, done.depth),
    findings: [...so.findings, ...done.findings],
    left,
  };
}
