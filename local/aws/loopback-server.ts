import { Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server } from 'node:net';

/** Only the loopback interface: a local run may hold real personal data. */
export const loopback = '127.0.0.1';

/** Listens on a loopback port; 0: any free one. @returns the server's URL */
export async function listenOnLoopback(server: Server, port = 0): Promise<string> {
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
 * Keeps idle connections open. Otherwise a client whose process was busy for a second would send its next request into
 * a connection that is being closed, and get ECONNRESET.
 */
export function keepOpen(server: HttpServer): void {
  server.keepAliveTimeout = 0;
}

/** Names of this machine for its programs and containers. No other machine can take them. */
const ownName = /^(?:127\.0\.0\.1|(?:[\w-]+\.)*localhost|host\.docker\.internal)(?::\d+)?$/i;

/**
 * Every browser sends the origin of a page, and no SDK does. A page behind a rebound DNS name sends no origin when it
 * only reads, but its host is another one.
 */
function isOfWebPage({ headers: { origin, host = '' } }: IncomingMessage): boolean {
  return origin !== undefined || !ownName.test(host);
}

/**
 * Refuses requests of web pages, since any open page could read or start something here: the ports are known,
 * credentials are not checked, and a local run may hold real personal data.
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

/** Closes the server at once, with all connections. */
export async function close(server: Server): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.close((error) => (error ? reject(error) : resolve()));
  if (server instanceof HttpServer) server.closeAllConnections();
  await promise;
}
