import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { portsFor } from '../../local/ports.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function occupied(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = Object(server.address());
  return port;
}

describe('the ports of an instance', () => {
  it('follow the requested one', async () => {
    // If another program listens there now, it has ended by then.
    const first = await occupied();
    for (const server of servers.splice(0)) server.close();
    const found = await portsFor(first).catch(({ message }) => message);
    expect([
      {
        console: first,
        partner: first + 1,
        messaging: first + 2,
        dynamodb: first + 3,
        lambda: first + 4,
      },
      expect.stringMatching(/^Port \d+ is taken\.$/),
    ]).toContainEqual(found);
  });

  it('are refused if a requested one is occupied', async () => {
    const taken = await occupied();
    await expect(portsFor(taken - 3)).rejects.toThrow(/^Port \d+ is taken\.$/);
  });

  it('are free ones, whole tens above the usual ones, by default', async () => {
    const before = await portsFor();
    expect(before.console === 0 || before.console % 10 === 0).toBe(true);
    if (before.console === 0) return;
    const server = createServer().listen(before.dynamodb, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    expect((await portsFor()).console).not.toBe(before.console);
  });
});
