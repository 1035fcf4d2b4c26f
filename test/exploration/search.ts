import { Worker } from 'node:worker_threads';
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

/** Tasks are shared out, the last one first, until none is left and none is under way that could add more. */
class Tasks {
  readonly #waiting: Task[];
  readonly #takers: ((task: Task | undefined) => void)[] = [];
  #underWay = 0;

  constructor(first: Task) {
    this.#waiting = [first];
  }

  get left(): number {
    return this.#waiting.length;
  }

  /** @returns undefined when no more can come */
  take(): Promise<Task | undefined> {
    const { promise, resolve } = Promise.withResolvers<Task | undefined>();
    this.#takers.push(resolve);
    this.#handOut();
    return promise;
  }

  done(more: readonly Task[]): void {
    this.#underWay -= 1;
    this.#waiting.push(...more);
    this.#handOut();
  }

  #handOut(): void {
    while (this.#takers.length > 0 && (this.#waiting.length > 0 || this.#underWay === 0)) {
      const task = this.#waiting.pop();
      if (task !== undefined) this.#underWay += 1;
      this.#takers.shift()?.(task);
    }
  }
}

/**
 * Runs all executions within the budgets with these workers.
 *
 * @param tell called after each task; it returns whether to continue
 */
export async function search(
  { beginning, ticks, workers, room, endsAfterMs, mutant }: Search,
  tell: (so: Found) => boolean,
): Promise<Found> {
  const endsAt = performance.now() + endsAfterMs;
  const seen = new Seen(beginning.budget, room).buffer;
  const tasks = new Tasks({ trail: '', ticks, executions: executionsOfTask });
  let so: Found = { executions: 0, states: 0, depth: 0, findings: [], left: 1 };
  let isWanted = true;
  const work = async (explored: (task: Task) => Promise<Explored>) => {
    while (isWanted && performance.now() < endsAt) {
      const task = await tasks.take();
      if (task === undefined) return;
      const done = await explored(task);
      tasks.done(furtherTasks(task, done));
      so = added(so, done, tasks.left);
      isWanted &&= tell(so);
    }
  };
  const hired = Array.from({ length: workers }, () => hire({ beginning, seen, mutant }));
  try {
    await Promise.all(hired.map(({ explored }) => work(explored)));
  } finally {
    await Promise.all(hired.map(({ dismiss }) => dismiss()));
  }
  return so;
}

function furtherTasks(task: Task, { next, branches }: Explored): Task[] {
  const shares = Array.from({ length: Math.ceil(branches.length / branchesOfTask) }, (_, nth) =>
    branches.slice(nth * branchesOfTask, (nth + 1) * branchesOfTask),
  );
  const { ticks, executions } = task;
  return [
    ...next.map((trail) => ({ trail, ticks: ticks - 1, executions })),
    ...shares.map((branches) => ({ ...task, branches })),
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

function hire(hire: Hire) {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: hire,
    resourceLimits: { maxYoungGenerationSizeMb: 128 },
  });
  const explored = (task: Task) =>
    new Promise<Explored>((resolve, reject) => {
      worker.removeAllListeners().once('message', resolve).once('error', reject);
      worker.postMessage(task);
    });
  return { explored, dismiss: () => worker.terminate() };
}
