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
