import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readAssembly } from '../../local/aws/assembly.ts';
import { interpret } from '../../local/aws/interpret.ts';
import { Deployment, queues } from '../scaffold/deployment.ts';
import { transformed } from '../scaffold/pipes.ts';

/**
 * From the partner to the stream of an archive. No stream runs on this machine, so the test shows
 * the records for it. The embedded SNS delivers to no Firehose, so only the pipe of a FIFO topic's
 * archive can be shown.
 */

describe('a stack with an archive of a FIFO topic', () => {
  const stage = new Deployment();
  const subscriptions = [{ topic: 'events', protocol: 'archive' }] as const;
  beforeAll(() => stage.build({ topic: 'fifo', subscriptions }));
  afterAll(() => stage.dismantle());
  beforeEach(() => stage.raise());
  afterEach(() => stage.strike());

  it("has all of its subscribers' events in the archive", async () => {
    await stage.completedTick();
    stage.sandbox.world.add();
    stage.sandbox.world.add();
    expect(await stage.completedTick()).toMatchObject({ created: 2, delivered: 2 });
    const events = await stage.events(queues.everything);
    expect(events).toHaveLength(2);
    const { stackName, region, accountId, endpoints } = stage.aws;
    const place = { stackName, region, accountId, sqsEndpoint: endpoints.sqs };
    const { pipes } = interpret(readAssembly(stage.assembly).template, place);
    expect(pipes).toHaveLength(1);
    for (const { source, inputTemplate } of pipes) {
      const messages = await stage.messages(source);
      const records = messages.map(({ MessageId = '', Body = '' }) =>
        JSON.parse(transformed(inputTemplate, { messageId: MessageId, body: Body })),
      );
      expect(records).toHaveLength(2);
      expect(records).toEqual(expect.arrayContaining(events));
    }
  });
});
