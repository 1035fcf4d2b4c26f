import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { Lived, Order } from './order.ts';

/** For each worker: the lives that may wait for their turn behind a long one. */
const untoldByWorker = 16;

/**
 * Has these workers live the lives, and yields each in its turn, in any order of completion.
 *
 * @throws the failure of a life or its worker
 */
export async function* livedBy(workers: number, orders: Iterable<Order>): AsyncGenerator<Lived> {
  const url = new URL('./worker.ts', import.meta.url);
  const crew = Array.from({ length: workers }, () => hire<Order, Lived>(url));
  const queue = orders[Symbol.iterator]();
  const untold: Promise<Lived>[] = [];
  const free = [...crew];

  /** Called when a worker becomes free or a life was yielded. */
  function begin(): void {
    while (free.length > 0 && untold.length < untoldByWorker * workers) {
      const next = queue.next();
      const worker = next.done ? undefined : free.pop();
      if (next.done || worker === undefined) return;
      const life = worker.give(next.value);
      untold.push(life);
      // A failure is reported in its turn.
      life.then(() => free.push(worker)).then(begin, () => undefined);
    }
  }

  try {
    begin();
    for (let next = untold.shift(); next !== undefined; next = untold.shift()) {
      const lived = await next;
      begin();
      yield lived;
    }
  } finally {
    free.length = 0;
    await Promise.all(crew.map((one) => one.dismiss()));
  }
}

/** A worker that carries out one order after the other. */
export function hire<Given, Done>(url: URL, options?: WorkerOptions) {
  const worker = new Worker(url, options);
  let work = Promise.withResolvers<Done>();
  let failure: unknown;
  const fail = (reason: unknown) => {
    failure ??= reason;
    work.reject(failure);
  };
  // A worker may fail before it has an order. Its first one then fails with the same error.
  work.promise.catch(() => undefined);
  worker.on('message', (done: Done) => work.resolve(done));
  worker.on('error', fail);
  worker.on('exit', (code) => fail(new Error(`a worker has ended with code ${code}`)));
  return {
    give: async (order: Given): Promise<Done> => {
      if (failure !== undefined) throw failure;
      work = Promise.withResolvers();
      worker.postMessage(order);
      return await work.promise;
    },
    dismiss: () => worker.terminate(),
  };
}
