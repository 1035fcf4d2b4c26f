import type { Server } from 'node:http';
import { registerHooks } from 'node:module';

/*
 * In an index, dynalite tells items with the same key apart by 24 bits of a hash, "for now": of 5,000
 * with the same key, as events that are owed since the same moment have, one is missing as often as
 * not. With 64 bits none is.
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

/** An empty DynamoDB in memory, over HTTP. It listens nowhere yet, and its tables are there at once. */
export const embeddedDynamoDb = (): Server => dynalite({ createTableMs: 0 });
