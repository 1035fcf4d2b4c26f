import { Worker } from 'node:worker_threads';
import { type Lived, live, type Order } from './order.ts';

/** For each worker: the lives that may wait for their turn behind a long one. */
const untoldByWorker = 16;

/**
 * Has these workers live the lives, and yields each in its turn, in any order of completion.
 *
 * @param isEnough after which no further life is begun
 * @throws the failure of a life or its worker
 */
export async function* livedBy(
  workers: number,
  orders: Iterable<Order>,
  isEnough: (lived: Lived) => boolean,
): AsyncGenerator<Lived> {
  const queue = orders[Symbol.iterator]();
  const untold: Promise<Lived>[] = [];
  const crew = Array.from({ length: workers }, () => hire(workers));
  const free = [...crew];
  let isOver = false;

  /** Called when a worker becomes free or a life was yielded. */
  function begin(): void {
    while (!isOver && untold.length < untoldByWorker * workers) {
      const worker = free.pop();
      if (worker === undefined) return;
      const next = queue.next();
      if (next.done) return;
      const life = worker.live(next.value);
      untold.push(life);
      life.then(
        () => {
          free.push(worker);
          begin();
        },
        // It is reported in its turn.
        () => undefined,
      );
    }
  }

  try {
    begin();
    for (let next = untold.shift(); next !== undefined; next = untold.shift()) {
      const lived = await next;
      isOver = isEnough(lived);
      begin();
      yield lived;
      if (isOver) return;
    }
  } finally {
    isOver = true;
    await Promise.all(crew.map((one) => one.dismiss()));
  }
}

interface Hired {
  live(order: Order): Promise<Lived>;
  dismiss(): Promise<unknown>;
}

function hire(workers: number): Hired {
  if (workers === 1) return { live, dismiss: async () => undefined };
  const worker = new Worker(new URL('./worker.ts', import.meta.url));
  let life = Promise.withResolvers<Lived>();
  let failure: unknown;
  const fail = (reason: unknown) => {
    failure ??= reason;
    life.reject(failure);
  };
  // A worker may fail before it has an order. Its first life then fails with the same error.
  life.promise.catch(() => undefined);
  worker.on('message', (lived: Lived) => life.resolve(lived));
  worker.on('error', fail);
  worker.on('exit', (code) => fail(new Error(`a worker has ended with code ${code}`)));
  return {
    live: async (order) => {
      if (failure !== undefined) throw failure;
      life = Promise.withResolvers();
      worker.postMessage(order);
      return await life.promise;
    },
    dismiss: () => worker.terminate(),
  };
}
