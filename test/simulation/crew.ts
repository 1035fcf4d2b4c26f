import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type Lived, live, type Order } from './order.ts';

/**
 * Has lives lived by as many workers, and hands over each in its turn, whoever was first.
 *
 * @param isEnough after which no further life is begun
 */
export async function* livedBy(
  workers: number,
  orders: Iterable<Order>,
  isEnough: (lived: Lived) => boolean,
): AsyncGenerator<Lived> {
  const queue = orders[Symbol.iterator]();
  const underWay: Promise<Lived>[] = [];
  const crew = Array.from({ length: workers }, () => hire(workers));
  const free = [...crew];
  try {
    for (;;) {
      for (let one = free.pop(); one !== undefined; one = free.pop()) {
        const next = queue.next();
        if (next.done) break;
        const worker = one;
        const life = worker.live(next.value);
        void life.then(
          () => free.push(worker),
          () => undefined,
        );
        underWay.push(life);
      }
      const first = underWay.shift();
      if (first === undefined) return;
      const lived = await first;
      yield lived;
      if (isEnough(lived)) return;
    }
  } finally {
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
  return {
    live: async (order) => {
      worker.postMessage(order);
      const [lived] = await once(worker, 'message');
      return lived;
    },
    dismiss: () => worker.terminate(),
  };
}
