import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { CommandInput } from '../../lambda/operations/contract.ts';
import { Deployment, queues } from '../scaffold/deployment.ts';

const stage = new Deployment();
beforeAll(() => stage.build({ integration: { holdAbove: 5 } }));
afterAll(() => stage.dismantle());
beforeEach(async () => {
  await stage.raise();
  await stage.completedTick();
  await stage.events(queues.everything);
  await stage.notices();
});
afterEach(() => stage.strike());

const answerSchema = z.looseObject({
  ok: z.boolean(),
  problem: z.looseObject({ code: z.string() }).optional(),
  result: z
    .looseObject({ events: z.int().optional(), next: z.record(z.string(), z.json()).optional() })
    .optional(),
});

/** The contents of the file that `aws lambda invoke` would write. */
async function operate(command: CommandInput | Record<string, z.core.util.JSONType>) {
  const invocation = await stage.operate.invoke(z.json().parse(command));
  if (invocation.outcome !== 'returned') throw new Error(JSON.stringify(invocation));
  return answerSchema.parse(invocation.payload);
}

/** More certifications at once than `holdAbove`, two of them of the organization that one system wants. */
async function flood() {
  const { world } = stage.sandbox;
  const [, elsewhere] = world.organizations;
  const added = Array.from({ length: 6 }, (_, index) =>
    world.add({ organization_id: index < 2 ? stage.filtered : (elsewhere?.id ?? 0) }),
  );
  expect(await stage.completedTick()).toMatchObject({ delivered: 0, held: 6 });
  expect(await stage.events(queues.everything)).toEqual([]);
  return added;
}

const subjects = async () =>
  (await stage.events(queues.everything)).map(({ subject }) => Number(subject)).sort();

describe('a held flood', () => {
  it("is listed, released in part and discarded for the rest, and each event's life is known", async () => {
    const added = await flood();
    const ids = added.map(({ id }) => id);
    expect(await operate({ command: 'holds' })).toMatchObject({
      ok: true,
      result: { list: ids.map(() => ({ type: 'created' })) },
    });
    const ours = { organizations: [stage.filtered] };
    expect(await operate({ command: 'release', ...ours })).toMatchObject({ result: { events: 2 } });
    expect(await stage.completedTick()).toMatchObject({ delivered: 2 });
    expect(await subjects()).toEqual(ids.slice(0, 2).sort());
    expect(await stage.mails()).toHaveLength(1);

    expect(await operate({ command: 'discard' })).toMatchObject({ result: { events: 4 } });
    expect(await stage.completedTick()).toMatchObject({ delivered: 0 });
    expect(await subjects()).toEqual([]);
    expect(await operate({ command: 'explain', id: ids[0] ?? 0 })).toMatchObject({
      result: { verdict: 'announced' },
    });
    expect(await operate({ command: 'explain', id: ids[5] ?? 0 })).toMatchObject({
      result: { verdict: 'discarded' },
    });
    expect(await operate({ command: 'status', history: true })).toMatchObject({
      result: {
        state: 'up-to-date',
        waiting: { pending: 0, digest: 0, held: 0, undeliverable: 0 },
        history: [{ command: 'discard' }, { command: 'release' }],
      },
    });
  });

  it('has lost nothing when a release is killed and sent again', async () => {
    await flood();
    // The record of the command, the lease, and two of six outboxes.
    for (let writes = 0; writes < 4; writes += 1)
      stage.dynamodb.once('UpdateItem', ({ forward }) => forward());
    stage.dynamodb.once('UpdateItem', async ({ forward }) => {
      await forward();
      await stage.operate.kill();
      return undefined;
    });
    expect(await stage.operate.invoke({ command: 'release' })).toMatchObject({ outcome: 'failed' });
    await stage.leaseRunsOut();
    await operate({ command: 'release' });
    await stage.completedTick();
    await stage.completedTick();
    const heard = await subjects();
    expect(heard).toHaveLength(6);
    expect(new Set(heard).size).toBe(6);
  });

  it('can be told to people in one mail, and to no system', async () => {
    await flood();
    await operate({ command: 'release', as: 'digest' });
    await stage.completedTick();
    expect(await subjects()).toEqual([]);
    expect(await stage.mails()).toHaveLength(1);
  });

  it('is released while ticks go on', async () => {
    const added = await flood();
    const late = stage.sandbox.world.add();
    const release = async () => {
      let { next } = (await operate({ command: 'release', forHours: 1 })).result ?? {};
      while (next !== undefined) ({ next } = (await operate(next)).result ?? {});
    };
    await Promise.all([release(), stage.tick()]);
    // That tick may have held the late one after the release had read the list.
    await release();
    await stage.completedTick();
    await stage.completedTick();
    expect(await subjects()).toEqual([...added, late].map(({ id }) => id).sort());
  });
});

describe('a pause', () => {
  it('stops all ticks, has its reason, and loses nothing', async () => {
    await operate({
      command: 'pause',
      reason: 'the partner moves',
      by: 'arn:aws:iam::1:user/odile',
    });
    const { id } = stage.sandbox.world.add();
    expect(await stage.completedTick()).toMatchObject({ outcome: 'paused', requests: 0 });
    expect(await operate({ command: 'status' })).toMatchObject({
      result: { state: 'paused', paused: { reason: 'the partner moves' } },
    });
    expect(
      await operate({ command: 'prove', from: '2026-01-01', to: '2026-01-31', now: true }),
    ).toMatchObject({ ok: false, problem: { code: 'paused' } });
    await operate({ command: 'resume' });
    await stage.completedTick();
    expect(await subjects()).toEqual([id]);
  });
});

describe('a command of a person on call', () => {
  it('is a tick now', async () => {
    const { id } = stage.sandbox.world.add();
    expect(await operate({ command: 'tick' })).toMatchObject({
      ok: true,
      result: { outcome: 'completed', created: 1, delivered: 1 },
    });
    expect(await subjects()).toEqual([id]);
  });

  it('with a mistake gets it in words, although the bundle uses zod/mini', async () => {
    const message = expect.stringContaining('to: Invalid input: expected string');
    expect(await operate({ command: 'prove', from: '2026-10-01' })).toMatchObject({
      ok: false,
      problem: { code: 'command-invalid', message },
    });
  });

  it('is the proof of a range now, which finds an edit that no tick has seen', async () => {
    const { world } = stage.sandbox;
    const [oldest] = [...world.assessments()].sort((a, b) =>
      a.certified_on.localeCompare(b.certified_on),
    );
    const day = oldest?.certified_on ?? '';
    const elsewhere = world.organizations.find(({ id }) => id !== oldest?.organization_id);
    world.change(oldest?.id ?? 0, { organization_id: elsewhere?.id ?? 0 });
    const answer = await operate({ command: 'prove', from: day, to: day, now: true });
    expect(answer).toMatchObject({
      ok: true,
      result: { found: { updated: 1 }, days: [{ day, proof: {} }] },
    });
    expect(await subjects()).toEqual([oldest?.id]);
  });

  it('is a check of all parts', async () => {
    const answer = await operate({ command: 'check' });
    const checks = z.looseObject({
      checks: z.array(z.looseObject({ name: z.string(), outcome: z.string() })),
    });
    const { checks: made } = checks.parse(answer.result);
    for (const { name, outcome } of made)
      expect([`${name}: ok`, `${name}: skipped`]).toContain(`${name}: ${outcome}`);
    expect(made).toHaveLength(11);
  });

  it('is a restarted baseline, which announces nothing again', async () => {
    expect(await operate({ command: 'restart-baseline' })).toMatchObject({
      result: { changed: true },
    });
    await stage.completedTick();
    await stage.completedTick();
    expect(await subjects()).toEqual([]);
    expect(await operate({ command: 'status' })).toMatchObject({
      result: { baseline: { status: 'completed', counted: 30 } },
    });
  });

  it('has no personal data in any answer or log', async () => {
    const added = await flood();
    const answers = [
      await operate({ command: 'status', history: true }),
      await operate({ command: 'holds' }),
      await operate({ command: 'explain', id: added[0]?.id ?? 0 }),
      await operate({ command: 'check' }),
      await operate({ command: 'release' }),
    ];
    const left = JSON.stringify(answers) + stage.output.join('\n');
    for (const { email, last_name, seid } of added)
      for (const value of [email, last_name, seid]) expect(left).not.toContain(String(value));
  });
});
