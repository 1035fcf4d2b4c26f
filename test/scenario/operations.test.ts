import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { Deployment, integration, queues } from '../scaffold/deployment.ts';
import { xml } from '../support/taken-away.ts';

/** Commands of people on call, and replays, carried out by the deployed function. */

const stage = new Deployment();
beforeAll(() => stage.build({ integration: { holdAbove: 5 } }));
afterAll(() => stage.dismantle());
beforeEach(async () => {
  await stage.raise();
  await stage.completedTick();
});
afterEach(() => stage.strike());

const answerSchema = z.looseObject({
  ok: z.boolean(),
  problem: z.looseObject({ code: z.string() }).optional(),
  result: z.looseObject({}).optional(),
});
type Command = Record<string, z.core.util.JSONType>;

/** The contents of the file that `aws lambda invoke` would write. */
async function operate(command: Command) {
  const invocation = await stage.operate.invoke(command);
  if (invocation.outcome !== 'returned') throw new Error(JSON.stringify(invocation));
  return answerSchema.parse(invocation.payload);
}

const resultOf = async (command: Command) => (await operate(command)).result ?? {};

const subjects = async (queue = queues.everything) =>
  (await stage.events(queue)).map(({ subject }) => Number(subject)).sort();

/** New people, the first two of the organization that one system wants. */
function certify(count: number) {
  const { world } = stage.sandbox;
  const elsewhere = world.organizations.find(({ id }) => id !== stage.filtered);
  return Array.from({ length: count }, (_, index) =>
    world.add({ organization_id: index < 2 ? stage.filtered : (elsewhere?.id ?? 0) }),
  );
}

/** More certifications at once than `holdAbove`. */
async function flood() {
  const added = certify(6);
  expect(await stage.completedTick()).toMatchObject({ delivered: 0, held: 6 });
  expect(await subjects()).toEqual([]);
  return added;
}

/** An environment that dies with its next call of an operation, whose effect is there. */
const diesAfter = (gate: typeof stage.sns, operation: string) =>
  gate.once(operation, async ({ forward }) => {
    await forward();
    await stage.operate.kill();
    return undefined;
  });

describe('a held flood', () => {
  it("is listed, released in part and discarded for the rest, and each event's life is known", async () => {
    const added = await flood();
    const ids = added.map(({ id }) => id);
    const [first = 0] = ids;
    const last = ids.at(-1) ?? 0;
    const held = await resultOf({ command: 'holds' });
    expect(held).toMatchObject({ list: ids.map(() => ({ type: 'created' })) });
    const ours = { organizations: [stage.filtered] };
    expect(await resultOf({ command: 'release', ...ours })).toMatchObject({ events: 2 });
    expect(await stage.completedTick()).toMatchObject({ delivered: 2 });
    expect(await subjects()).toEqual(ids.slice(0, 2).sort());
    expect(await stage.mails()).toHaveLength(1);

    expect(await resultOf({ command: 'discard' })).toMatchObject({ events: 4 });
    expect(await stage.completedTick()).toMatchObject({ delivered: 0 });
    expect(await subjects()).toEqual([]);
    const explained = await resultOf({ command: 'explain', id: first });
    expect(explained).toMatchObject({ verdict: 'announced' });
    expect(await resultOf({ command: 'explain', id: last })).toMatchObject({
      verdict: 'discarded',
    });
    const status = await resultOf({ command: 'status', history: true });
    expect(status).toMatchObject({
      state: 'up-to-date',
      waiting: { pending: 0, digest: 0, held: 0, undeliverable: 0 },
      history: [{ command: 'discard' }, { command: 'release' }],
    });
    const left = JSON.stringify([held, explained, status]) + stage.output.join('\n');
    for (const { email, last_name, seid } of added)
      for (const value of [email, last_name, seid]) expect(left).not.toContain(String(value));
  });

  it('has lost nothing when a release is killed and sent again, beside ticks', async () => {
    await flood();
    // The record of the command, the lease, and two of six outboxes.
    for (let writes = 0; writes < 4; writes += 1)
      stage.dynamodb.once('UpdateItem', ({ forward }) => forward());
    diesAfter(stage.dynamodb, 'UpdateItem');
    expect(await stage.operate.invoke({ command: 'release' })).toMatchObject({ outcome: 'failed' });
    await stage.leaseRunsOut();
    await Promise.all([operate({ command: 'release' }), stage.tick()]);
    await operate({ command: 'release' });
    await stage.completedTick();
    await stage.completedTick();
    const heard = await subjects();
    expect(heard).toHaveLength(6);
    expect(new Set(heard).size).toBe(6);
  });
});

it('a command with a mistake gets it in words, although the bundle uses zod/mini', async () => {
  const message = expect.stringContaining('to: Invalid input: expected string');
  expect(await operate({ command: 'prove', from: '2026-10-01' })).toMatchObject({
    ok: false,
    problem: { code: 'command-invalid', message },
  });
});

/** With the highest allowed pace. */
const today = { command: 'replay', days: { from: '2020-01-01' }, eventsPerSecond: 1_000 };
/** SNS clients do not retry it. */
const denied = async () => xml(403, 'KMSAccessDenied');

describe('a replay', () => {
  const announced = async () => {
    const added = certify(4);
    expect(await stage.completedTick()).toMatchObject({ delivered: 4 });
    const told = await stage.events(queues.everything);
    await stage.events(queues.oneOrganization);
    return { added, told, ids: told.map(({ id }) => id).sort() };
  };

  it('sends the same events again, marked, to all subscribers or to one queue', async () => {
    const { added, told } = await announced();
    await resultOf(today);
    const again = await stage.events(queues.everything);
    expect(again).toHaveLength(told.length);
    expect(again).toEqual(
      expect.arrayContaining(told.map((one) => ({ ...one, data: { ...one.data, replay: true } }))),
    );
    expect(await subjects(queues.oneOrganization)).toHaveLength(2);
    expect(await stage.mails()).toHaveLength(1);

    const { world } = stage.sandbox;
    world.change(added[0]?.id ?? 0, { organization_id: added[3]?.organization_id ?? 0 });
    const to = { queue: queues.oneOrganization };
    const [answer, line] = await Promise.all([
      operate({ ...today, baseline: true, to }),
      stage.completedTick(),
    ]);
    // The tick announces the changed one under its new id.
    expect(line).toMatchObject({ updated: 1, delivered: 1 });
    expect(answer).toMatchObject({ ok: true });
    expect(await stage.events(queues.everything)).toMatchObject([
      { id: `${integration}/${added[0]?.id}/2`, type: 'certification.updated' },
    ]);
    const direct = await subjects(queues.oneOrganization);
    expect(direct.length).toBeGreaterThanOrEqual(world.count - 1);
    expect(new Set(direct).size).toBe(direct.length);
    const left = JSON.stringify(answer) + stage.output.join('\n');
    for (const { email, last_name } of added)
      for (const value of [email, last_name]) expect(left).not.toContain(String(value));
  });

  it('that is killed is sent again, and none is lost', async () => {
    const { ids } = await announced();
    diesAfter(stage.sns, 'PublishBatch');
    expect(await stage.operate.invoke({ ...today, eventsPerSecond: 2 })).toMatchObject({
      outcome: 'failed',
    });
    await operate(today);
    const heard = new Set((await stage.events(queues.everything)).map(({ id }) => id));
    expect([...heard].sort()).toEqual(ids);
  });
});

it('a test event passes its filter, and has its id or its refusal in the answer', async () => {
  const answer = await operate({ command: 'test-event', organization_id: stage.filtered });
  const received = await stage.events(queues.oneOrganization);
  expect(received).toMatchObject([{ type: 'certification.test', subject: 'test' }]);
  expect(answer).toEqual({ ok: true, result: { id: received[0]?.id } });
  await operate({ command: 'test-event', organization_id: stage.filtered + 1 });
  expect(await stage.events(queues.oneOrganization)).toEqual([]);
  stage.sns.once('PublishBatch', denied);
  expect(await operate({ command: 'test-event' })).toMatchObject({
    ok: false,
    problem: { code: 'events-refused' },
  });
});
