import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Reply } from '../../local/aws/gate.ts';
import { Deployment, integration, queues } from '../scaffold/deployment.ts';

const stage = new Deployment();
beforeAll(() => stage.build());
afterAll(() => stage.dismantle());
beforeEach(() => stage.raise());
afterEach(() => stage.strike());

const eventId = ({ id }: { id: number }, revision = 1) => `${integration}/${id}/${revision}`;
const idsOf = (events: readonly { id: string }[]) => events.map(({ id }) => id).sort();

/** Adds three invented people. The first belongs to the organization that one subscriber wants. */
function certifyThree() {
  const { world } = stage.sandbox;
  const other = world.organizations.find(({ id }) => id !== stage.filtered);
  if (other === undefined) throw new Error('the sandbox has one organization only');
  return [
    world.add({ organization_id: stage.filtered }),
    world.add({ organization_id: other.id }),
    world.add({ organization_id: other.id }),
  ] as const;
}

/** SNS's answer when it accepts all entries of a batch except two. */
async function refuseTwo(body: string, forward: (body: string) => Promise<Reply>): Promise<Reply> {
  const parameters = new URLSearchParams(body);
  const refused = ['2', '5'];
  for (const name of [...parameters.keys()])
    if (refused.some((n) => name.startsWith(`PublishBatchRequestEntries.member.${n}.`)))
      parameters.delete(name);
  const reply = await forward(parameters.toString());
  const failed = refused
    .map(
      (n) =>
        `<member><Id>${Number(n) - 1}</Id><Code>InternalError</Code><SenderFault>false</SenderFault></member>`,
    )
    .join('');
  return {
    ...reply,
    body: reply.body.replace(/<Failed\s*\/>|<Failed>\s*<\/Failed>/, `<Failed>${failed}</Failed>`),
  };
}

describe('from the partner to the subscribers', () => {
  it('the baseline is silent', async () => {
    expect(await stage.completedTick()).toMatchObject({ outcome: 'baseline', delivered: 0 });
    expect(await stage.completedTick()).toMatchObject({ outcome: 'completed', created: 0 });
    expect(await stage.events(queues.everything)).toEqual([]);
    expect(await stage.mails()).toEqual([]);
  });

  it('three new assessments are three events, each once, for the subscribers that want them', async () => {
    await stage.completedTick();
    const three = certifyThree();
    expect(await stage.completedTick()).toMatchObject({ created: 3, delivered: 3 });
    await stage.completedTick();
    expect(idsOf(await stage.events(queues.everything))).toEqual(
      three.map((one) => eventId(one)).sort(),
    );
    expect(idsOf(await stage.events(queues.oneOrganization))).toEqual([eventId(three[0])]);
    const mails = await stage.mails();
    expect(mails).toHaveLength(1);
    for (const { name } of three) expect(mails[0]).toContain(name);
  });

  it('the event carries the record as the API returns it', async () => {
    await stage.completedTick();
    const [one] = certifyThree();
    await stage.completedTick();
    const events = await stage.events(queues.everything);
    const event = events.find(({ subject }) => subject === String(one.id));
    expect(event?.data.assessment).toEqual(one);
  });

  it('an edit is an update that names the field, and the filter by type excludes it', async () => {
    await stage.completedTick();
    const [one] = certifyThree();
    await stage.completedTick();
    await stage.events(queues.everything);
    await stage.events(queues.oneOrganization);
    stage.sandbox.world.change(one.id, { email: 'somebody-else@example.org' });
    expect(await stage.completedTick()).toMatchObject({ updated: 1 });
    expect(await stage.events(queues.everything)).toMatchObject([
      { id: eventId(one, 2), type: 'certification.updated', data: { changed: ['email'] } },
    ]);
    expect(await stage.events(queues.oneOrganization)).toEqual([]);
  });

  it('a tick without news sends the partner one request, writes once, and publishes nothing', async () => {
    await stage.completedTick();
    await stage.completedTick();
    for (const gate of [stage.partner, stage.dynamodb, stage.sns]) gate.reset();
    expect(await stage.completedTick()).toMatchObject({ requests: 1 });
    expect(stage.partner.calls).toHaveLength(1);
    expect(stage.dynamodb.calls.filter((call) => call !== 'BatchGetItem')).toEqual([
      'GetItem',
      'UpdateItem',
    ]);
    expect(stage.sns.calls).toEqual([]);
  });
});

describe('a killed process', () => {
  it('between commit and publish has its events delivered by the next tick, with the same ids', async () => {
    await stage.completedTick();
    const three = certifyThree();
    stage.sns.once('PublishBatch', async () => {
      await stage.poll.kill();
      return undefined;
    });
    expect(await stage.tick()).toMatchObject({ outcome: 'failed' });
    expect(await stage.events(queues.everything)).toEqual([]);

    await stage.leaseRunsOut();
    expect(await stage.completedTick()).toMatchObject({ created: 0, delivered: 3 });
    expect(idsOf(await stage.events(queues.everything))).toEqual(
      three.map((one) => eventId(one)).sort(),
    );
    expect(await stage.mails()).toHaveLength(1);
  });

  it('between publish and removal from the outbox has its events delivered again, with the same ids', async () => {
    await stage.completedTick();
    const three = certifyThree();
    stage.sns.once('PublishBatch', async ({ forward }) => {
      await forward();
      await stage.poll.kill();
      return undefined;
    });
    expect(await stage.tick()).toMatchObject({ outcome: 'failed' });
    expect(await stage.events(queues.everything)).toHaveLength(3);

    await stage.leaseRunsOut();
    expect(await stage.completedTick()).toMatchObject({ created: 0, delivered: 3 });
    expect(idsOf(await stage.events(queues.everything))).toEqual(
      three.map((one) => eventId(one)).sort(),
    );
    expect(await stage.mails()).toHaveLength(1);
    expect(await stage.completedTick()).toMatchObject({ delivered: 0 });
  });

  it('before the digest has its digest sent by the next tick, and its events a second time', async () => {
    await stage.completedTick();
    certifyThree();
    stage.sns.once('Publish', async () => {
      await stage.poll.kill();
      return undefined;
    });
    expect(await stage.tick()).toMatchObject({ outcome: 'failed' });
    expect(await stage.mails()).toEqual([]);
    await stage.leaseRunsOut();
    await stage.completedTick();
    expect(await stage.mails()).toHaveLength(1);
  });
});

describe('SNS', () => {
  it('that refuses two of ten entries gets those two again, and none is lost', async () => {
    await stage.completedTick();
    const ten = Array.from({ length: 10 }, () => stage.sandbox.world.add());
    stage.sns.once('PublishBatch', ({ body, forward }) => refuseTwo(body, forward));
    expect(await stage.completedTick()).toMatchObject({ delivered: 10, undelivered: 0 });
    expect(stage.sns.calls.filter((call) => call === 'PublishBatch').length).toBeGreaterThan(1);
    const events = await stage.events(queues.everything);
    expect(idsOf(events)).toEqual(ten.map((one) => eventId(one)).sort());
  });

  it('that is down delays deliveries, and loses none', async () => {
    await stage.completedTick();
    const three = certifyThree();
    for (let time = 0; time < 8; time += 1) stage.sns.once('PublishBatch', async () => undefined);
    expect(await stage.completedTick()).toMatchObject({ created: 3, delivered: 0, undelivered: 3 });
    expect(await stage.completedTick()).toMatchObject({ created: 0, delivered: 3, undelivered: 0 });
    expect(idsOf(await stage.events(queues.everything))).toEqual(
      three.map((one) => eventId(one)).sort(),
    );
    expect(await stage.mails()).toHaveLength(1);
  });
});
