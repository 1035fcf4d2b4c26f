import { parentPort, workerData } from 'node:worker_threads';
import { brokenBy } from '../simulation/order.ts';
import { type Beginning, begin, explore, type Task } from './explore.ts';
import { Seen } from './seen.ts';

/** The data that a worker needs. */
export interface Hire {
  readonly beginning: Beginning;
  readonly seen: SharedArrayBuffer;
  readonly mutant?: string | undefined;
}

const { beginning, seen, mutant }: Hire = workerData;
const broken = brokenBy(mutant);
const begun = await begin(beginning, broken);
const shared = new Seen(beginning.budget, seen);

/** A worker of `npm run explore`, for one task after the other. */
parentPort?.on('message', async (task: Task) => {
  parentPort?.postMessage(await explore(begun, task, shared, broken));
});
