import { parentPort } from 'node:worker_threads';
import { live, type Order } from './order.ts';

/** A worker of `npm run simulate`, for one life after the other. */
parentPort?.on('message', async (order: Order) => {
  parentPort?.postMessage(await live(order));
});
