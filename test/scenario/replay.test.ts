import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Reply } from '../../local/aws/gate.ts';
import { Deployment, integration, queues } from '../scaffold/deployment.ts';

const stage = new Deployment();
beforeAll(() => stage.build());
afterAll(() => stage.dismantle());
beforeEach(() => stage.raise());
afterEach(() => stage.strike());

const answerSchema = z.looseObject({
  ok: z.boolean(),
  problem: z.looseObject({ code: z.string() }).optional(),
  result: z
    .looseObject({
      id: z.string().optional(),
      events: z.int().optional(),
      next: z.record(z.string(), z.json()).optional(),
    })
    .optional(),
});

/** The contents of the file that `aws lambda invoke` would write. */
async function operate(command: Record<string, z.core.util.JSONType>) {
  const invocation = await stage.operate.invoke(command);
  if (invocation.outcome !== 'returned') throw new Error(JSON.stringify(invocation));
  return answerSchema.parse(invocation.payload);
}

/** Announced certifications, which a subscriber could have missed. */
async function announce(count: number) {
  await stage.completedTick();
  const { world } = stage.sandbox;
  const added = Array.from({ length: count }, () => world.add({ organization_id: stage.filtered }));
  expect(await stage.completedTick()).toMatchObject({ delivered: count });
  const told = await stage.events(queues.everything);
  expect(told).toHaveLength(count);
  await stage.events(queues.oneOrganization);
  return { added, told };
}

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
/** The highest allowed pace. */
const today = { command: 'replay', days: { from: '2020-01-01' }, eventsPerSecond: 1_000 };
/** A refusal that SNS clients do not retry. */
const notAllowed: Reply = {
  status: 403,
  type: 'text/xml',
  body: '<ErrorResponse><Error><Type>Sender</Type><Code>KMSAccessDenied</Code><Message>no</Message></Error></ErrorResponse>',
};

describe('a replay', () => {
  it('sends the events of a range of days again: the same ones, marked', async () => {
    const { told } = await announce(3);
    expect(await operate(today)).toMatchObject({ ok: true, result: { events: 3 } });
    const again = await stage.events(queues.everything);
    expect(again.sort(byId)).toEqual(
      told.sort(byId).map((event) => ({ ...event, data: { ...event.data, replay: true } })),
    );
    expect(await stage.events(queues.oneOrganization)).toHaveLength(3);
    expect(await stage.mails()).toHaveLength(1);
  });

  it('sends the events that its dry run has counted', async () => {
    const { added } = await announce(3);
    stage.sandbox.world.remove(added[0]?.id ?? 0);
    const counted = await operate({ ...today, dryRun: true });
    expect(await stage.events(queues.everything)).toEqual([]);
    const { result } = await operate(today);
    expect(counted.result).toEqual({ ...result, dryRun: true });
    expect(await stage.events(queues.everything)).toHaveLength(result?.events ?? 0);
    expect(result).toMatchObject({ events: 2, skipped: { changed: 1 } });
  });

  it('that is interrupted resumes at its cursor, and all are sent in the end', async () => {
    const { told } = await announce(5);
    stage.sns.once('PublishBatch', ({ forward }) => {
      stage.sns.always(async () => notAllowed);
      return forward();
    });
    const first = await operate({ ...today, eventsPerSecond: 2 });
    expect(first.result).toMatchObject({ events: 2 });
    stage.sns.reset();
    // The environment is gone, as after hours. Only the answer is left.
    await stage.operate.kill();
    let { next } = first.result ?? {};
    expect(next).toMatchObject({ eventsPerSecond: 2 });
    const { eventsPerSecond } = today;
    while (next !== undefined)
      ({ next } = (await operate({ ...next, eventsPerSecond })).result ?? {});
    const again = await stage.events(queues.everything);
    expect(again.map(({ id }) => id).sort()).toEqual(told.map(({ id }) => id).sort());
  });

  it('that is killed loses nothing when the command is sent again', async () => {
    const { told } = await announce(4);
    stage.sns.once('PublishBatch', async ({ forward }) => {
      await forward();
      await stage.operate.kill();
      return undefined;
    });
    expect(await stage.operate.invoke({ ...today, eventsPerSecond: 2 })).toMatchObject({
      outcome: 'failed',
    });
    await operate(today);
    const again = new Set((await stage.events(queues.everything)).map(({ id }) => id));
    expect([...again].sort()).toEqual(told.map(({ id }) => id).sort());
  });

  it('leaves a changed record to the next tick, which announces it under its new id', async () => {
    const { added } = await announce(2);
    const [changed] = added;
    const { world } = stage.sandbox;
    const [, elsewhere] = world.organizations;
    world.change(changed?.id ?? 0, { organization_id: elsewhere?.id ?? 0 });
    expect(await operate(today)).toMatchObject({ result: { events: 1, skipped: { changed: 1 } } });
    const again = await stage.events(queues.everything);
    expect(again.map(({ subject }) => subject)).toEqual([String(added[1]?.id)]);

    expect(await stage.completedTick()).toMatchObject({ updated: 1 });
    const news = await stage.events(queues.everything);
    expect(news).toMatchObject([{ id: `${integration}/${changed?.id}/2` }]);
    expect(news[0]?.data).not.toHaveProperty('replay');
  });

  it('to one queue sends to that queue alone, in the form of a raw subscription', async () => {
    await announce(2);
    const command = { ...today, to: { queue: queues.oneOrganization } };
    expect(await operate(command)).toMatchObject({ ok: true, result: { events: 2 } });
    expect(await stage.events(queues.everything)).toEqual([]);
    expect(await stage.events(queues.oneOrganization)).toHaveLength(2);
  });

  it('brings a new subscriber all events, including those of the baseline', async () => {
    await announce(1);
    const command = { ...today, baseline: true, to: { queue: queues.oneOrganization } };
    await operate(command);
    const { world } = stage.sandbox;
    const events = await stage.events(queues.oneOrganization);
    expect(new Set(events.map(({ subject }) => subject)).size).toBe(world.count);
    expect(events).toHaveLength(world.count);
  });

  it('runs beside ticks, and changes neither the next tick nor the state', async () => {
    await announce(2);
    const [answer, line] = await Promise.all([operate(today), stage.completedTick()]);
    expect(answer).toMatchObject({ ok: true, result: { events: 2 } });
    expect(line).toMatchObject({ delivered: 0 });
    expect(await stage.completedTick()).toMatchObject({ requests: 1, delivered: 0 });
  });

  it('has no personal data in its answer and its log', async () => {
    const { added } = await announce(2);
    const answer = await operate(today);
    const left = JSON.stringify(answer) + stage.output.join('\n');
    for (const { email, last_name, seid } of added)
      for (const value of [email, last_name, seid]) expect(left).not.toContain(String(value));
    expect(left).toContain('"command":"replay"');
  });

  it('at a partner that is down answers with the problem', async () => {
    await announce(2);
    await stage.beginWithSecret('{"client_id": "", "client_secret": ""}');
    const answer = await operate(today);
    expect(answer).toMatchObject({ ok: false, problem: { code: 'credentials-not-set' } });
    // It had not begun, so there is no place to resume.
    expect(answer).not.toHaveProperty('result');
  });
});

describe('a test event', () => {
  it('passes its filter, and its id is in the answer', async () => {
    const answer = await operate({ command: 'test-event', organization_id: stage.filtered });
    const received = await stage.events(queues.oneOrganization);
    expect(received).toMatchObject([{ type: 'certification.test', subject: 'test' }]);
    expect(answer).toEqual({ ok: true, result: { id: received[0]?.id } });
  });

  it('does not pass another filter', async () => {
    await operate({ command: 'test-event', organization_id: stage.filtered + 1 });
    expect(await stage.events(queues.oneOrganization)).toEqual([]);
    expect(await stage.events(queues.everything)).toHaveLength(1);
  });

  it('that SNS refuses gets a problem with the next step', async () => {
    stage.sns.once('PublishBatch', async () => notAllowed);
    expect(await operate({ command: 'test-event' })).toMatchObject({
      ok: false,
      problem: { code: 'events-refused' },
    });
  });
});
