import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Door } from './door.ts';
import { PortTakenError } from './errors.ts';
import { front } from './front.ts';
import { newToken } from './guard.ts';
import { getRequestListener, type Hono } from './library.ts';
import { type Changed, Live } from './live.ts';

/** The first port that is tried. */
const usualPort = 4380;
/** The number of ports that are tried. */
const triedPorts = 20;
const loopback = '127.0.0.1';

export interface Console extends AsyncDisposable {
  /** The address to open, with its token. */
  readonly url: string;
  /** Makes open pages look again. */
  readonly changed: Changed;
  /** Settles once all pages are loaded, which the first request would wait for. */
  load(): Promise<void>;
}

/**
 * Serves the console on the loopback interface.
 *
 * @param port only this one; 0: any that is free; absent: the usual one, or the next that is free
 * @throws PortTakenError
 */
export async function serveConsole(door: Door, port?: number): Promise<Console> {
  const token = newToken();
  const live = new Live(door);
  const ending = new AbortController();
  let bound = 0;
  const host = () => `${loopback}:${bound}`;
  let loading: Promise<Hono> | undefined;
  // Pages take long to load, and the address must not wait for them.
  const load = async () => {
    const { app } = await import('./app.ts');
    return app(door, `/${token}/`, { changed: live.changed, ending: ending.signal });
  };
  const pages = () => {
    loading ??= load();
    return loading;
  };
  const { fetch } = front(door, { token, live, host, pages });
  // Other code of this process uses Request and Response, too.
  const server = createServer(getRequestListener(fetch, { overrideGlobalObjects: false }));
  bound = await listen(server, port ?? usualPort, port === undefined ? triedPorts : 1);
  return {
    url: `http://${host()}/${token}/`,
    changed: live.changed,
    load: async () => {
      await pages();
    },
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      const closed = once(server, 'close');
      server.close();
      // Event streams never end by themselves.
      server.closeAllConnections();
      await closed;
    },
  };
}

/** @returns the port on which the server listens */
async function listen(server: Server, first: number, tries: number): Promise<number> {
  for (let port = first; ; port += 1) {
    try {
      server.listen(port, loopback);
      await once(server, 'listening');
      return portOf(server);
    } catch (cause) {
      if (!isTaken(cause)) throw cause;
      if (port === first + tries - 1) throw new PortTakenError(port, { cause });
    }
  }
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const isTaken = (cause: unknown) =>
  cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
