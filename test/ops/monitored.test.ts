import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Duty } from './duty.ts';

const duty = new Duty();
beforeAll(() => duty.build({ integration: { holdAbove: 2 } }));
afterAll(() => duty.dismantle());
beforeEach(async () => {
  await duty.raise();
  await duty.stage.completedTick();
});
afterEach(() => duty.strike());

const exitCode = async (args: string) => (await duty.run(args)).exitCode;

describe('status --exit-code', () => {
  it('ends with 0 when all is well, and during a pause, which was intended', async () => {
    expect(await exitCode('status --exit-code')).toBe(0);
    await duty.run('pause --reason maintenance');
    expect(await duty.json('status --exit-code')).toMatchObject({
      exitCode: 0,
      result: [{ state: 'paused' }],
    });
  });

  it('ends with 1 when people have to decide, also during a pause; status alone does not', async () => {
    for (let index = 0; index < 3; index += 1)
      duty.stage.sandbox.world.add({ certified_on: '2019-05-06' });
    expect(await duty.stage.completedTick()).toMatchObject({ held: 3 });
    expect(await exitCode('status')).toBe(0);
    expect(await exitCode('status --exit-code')).toBe(1);
    await duty.run('pause --reason maintenance');
    expect(await duty.json('status --exit-code')).toMatchObject({
      exitCode: 1,
      ok: true,
      result: [{ state: 'paused', reasons: ['paused', 'held'] }],
    });
  });

  it('ends with 1 when ticks cannot commit their changes, which no total shows', async () => {
    const { sandbox, dynamodb } = duty.stage;
    const { id } = sandbox.world.add();
    await duty.stage.completedTick();
    sandbox.world.change(id, { email: 'changed@example.org' });
    dynamodb.always(async ({ operation, body, forward }) =>
      operation === 'UpdateItem' && body.includes('"CERT#')
        ? { status: 400, type: 'application/json', body: '{"__type":"ValidationException"}' }
        : forward(),
    );
    expect(await duty.stage.tick()).toMatchObject({ outcome: 'failed' });
    const { exitCode, result } = await duty.json('status --exit-code');
    const { count } = sandbox.world;
    expect(result).toMatchObject([
      { reasons: ['unfinished'], certifications: count, partner: { count } },
    ]);
    expect(exitCode).toBe(1);
  });

  it('ends with 1 when the partner is down', async () => {
    duty.stage.partner.always(async () => undefined);
    const { exitCode, result } = await duty.json('status --exit-code');
    expect(result).toMatchObject([{ state: 'partner-silent' }]);
    expect(exitCode).toBe(1);
  });
});
