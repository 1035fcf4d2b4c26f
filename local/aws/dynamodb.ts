import type { Server } from 'node:http';
import { registerHooks } from 'node:module';

/*
 * In an index, dynalite distinguishes items with the same key by 24 bits of a hash, "for now". Of 5,000 items with
 * the same key, such as events that wait since the same moment, one would be missing in every second run. With
 * 64 bits, none is.
 */
const hooks = registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith('/dynalite/db/index.js')) return loaded;
    return { ...loaded, source: String(loaded.source).replace('.slice(0, 6)', '.slice(0, 16)') };
  },
});
const { default: dynalite } = await import('dynalite');
hooks.deregister();

/** The longest time that an answer takes which nobody waits for any more. */
const abandonedMs = 500;

/**
 * An empty DynamoDB in memory, over HTTP. It does not listen yet, and it creates tables at once. Its
 * end waits for the answers under way, since its database ends the process where one is closed amid an answer.
 */
export function embeddedDynamoDb(): Server {
  const server = dynalite({ createTableMs: 0 });
  const underWay = new Set<Promise<void>>();
  server.on('request', (_, response) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    underWay.add(promise);
    response.once('close', () => {
      setTimeout(resolve, response.writableFinished ? 0 : abandonedMs);
    });
    promise.then(() => underWay.delete(promise));
  });
  const close = server.close.bind(server);
  server.close = (told) => {
    Promise.all(underWay).then(() => close(told));
    return server;
  };
  return server;
}
