import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { post } from '../../../ops/listening/post.ts';
import { ManualClock } from '../../scaffold/clock.ts';

const envelope = { messageId: 'a', topicArn: 'b', event: undefined };
const subscriptionArn = 'c';

it('a webhook without an answer is waited for as long as by SNS', async () => {
  const clock = new ManualClock('2026-11-21T08:00:00Z');
  const server = createServer(async (_request, response) => {
    // The head alone is no answer.
    response.writeHead(200).write('…');
    await clock.sleep(14_999);
    await clock.sleep(1);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const to = new URL(`http://127.0.0.1:${Object(server.address()).port}/`);
  const { signal: stop } = new AbortController();
  try {
    expect(await post('{}', envelope, { to, subscriptionArn, clock, stop })).toEqual({
      status: 'too-late',
      tookMs: 15_000,
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
