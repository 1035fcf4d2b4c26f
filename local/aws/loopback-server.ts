import { Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server } from 'node:net';

/** Listens on the loopback interface only: a local run may hold real personal data. */
export const loopback = '127.0.0.1';

/** Listens on a loopback port; 0: any free one. @returns the server's URL */
export async function listen(server: Server, port = 0): Promise<string> {
  if (server instanceof HttpServer) keepOpen(server);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(port, loopback, resolve);
  await promise;
  server.off('error', reject);
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new TypeError('A TCP server has an address and a port');
  }
  return `http://${loopback}:${address.port}`;
}

/**
 * Idle connections stay: a client whose process was busy for a second would send its next request into one that is
 * closed just then, and be told ECONNRESET.
 */
export function keepOpen(server: HttpServer): void {
  server.keepAliveTimeout = 0;
}

/** Names by which programs of this machine, and of containers on it, know it. No other machine can take them. */
const ownName = /^(?:127\.0\.0\.1|(?:[\w-]+\.)*localhost|host\.docker\.internal)(?::\d+)?$/i;

/**
 * Every browser says whence a page sends, and no SDK does; a page behind a rebound DNS name says nothing where it only
 * looks, but asks for another host.
 */
function isOfWebPage({ headers: { origin, host = '' } }: IncomingMessage): boolean {
  return origin !== undefined || !ownName.test(host);
}

/**
 * No web page that happens to be open reads or starts anything here: ports are known, credentials are not checked, and
 * a local run may hold real personal data.
 */
export function refuseWebPages<Listening extends Server>(server: Listening): Listening {
  const answer = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (isOfWebPage(request)) response.writeHead(403).end('Not for web pages.');
    else for (const one of answer) one.call(server, request, response);
  });
  return server;
}

/** Closes at once, with all its connections. */
export async function close(server: Server): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.close((error) => (error ? reject(error) : resolve()));
  if (server instanceof HttpServer) server.closeAllConnections();
  await promise;
}
