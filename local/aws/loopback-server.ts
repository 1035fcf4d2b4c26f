import { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';

/** Listening on the loopback interface only: what runs locally may hold real personal data. */
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

/** Closes at once, whatever is still connected. */
export async function close(server: Server): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.close((error) => (error ? reject(error) : resolve()));
  if (server instanceof HttpServer) server.closeAllConnections();
  await promise;
}
