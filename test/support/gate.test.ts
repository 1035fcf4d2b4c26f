import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { Gate } from '../../local/aws/gate.ts';

it('a reset within the body behind a gate reaches the caller as a broken connection and has no other effect', async () => {
  const service = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nhalf');
    // Node publishes this after the gate has read the head.
    subscribe('http.client.response.finish', reset);
    function reset() {
      unsubscribe('http.client.response.finish', reset);
      setImmediate(() => socket.resetAndDestroy());
    }
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  const { port } = Object(service.address());
  const gate = new Gate();
  const url = await gate.open();
  gate.target = `http://127.0.0.1:${port}`;
  await expect(fetch(url)).rejects.toThrow();
  await gate.close();
  service.close();
});
