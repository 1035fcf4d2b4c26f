import type { Server } from 'node:http';

/** Listening on the loopback interface only: what runs locally may hold real personal data. */
export const loopback = '127.0.0.1';

/** Listens on a free loopback port. @returns the server's URL */
export async function listen(server: Server): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(0, loopback, resolve);
  await promise;
  server.off('error', reject);
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new TypeError('A TCP server has an address and a port');
  }
  return `http://${loopback}:${address.port}`;
}

/** Closes at once, whatever is still connected. */
export async function close(server: Server): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.close((error) => (error ? reject(error) : resolve()));
  server.closeAllConnections();
  await promise;
}
