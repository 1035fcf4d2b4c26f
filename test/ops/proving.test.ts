import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Duty } from './duty.ts';

const duty = new Duty();
beforeAll(() => duty.build());
afterAll(() => duty.dismantle());
beforeEach(() => duty.raise());
afterEach(() => duty.strike());

const may = 'prove --from 2019-05-05 --to 2019-05-07';

it('a day that cannot be proven ends prove with 1, for people and for machines', async () => {
  const { world } = duty.stage.sandbox;
  const { id } = world.add({ certified_on: '2019-05-06' });
  await duty.stage.completedTick();
  expect(await duty.run(may)).toMatchObject({ exitCode: 0 });
  world.spoil(id, { set: { certified_on: 5 } });
  const { stdout, exitCode } = await duty.run(`${may} --now`);
  expect(stdout).toMatch(/^2019-05-06 .*unproven/m);
  expect(exitCode).toBe(1);
  expect(await duty.run(`${may} --csv`)).toMatchObject({ exitCode: 1 });
  expect(await duty.json(may)).toMatchObject({ exitCode: 1, ok: true });
});

it("a caller who continues another's command is the one on record", async () => {
  await duty.stage.completedTick();
  const begun = { from: '2019-05-05', to: '2019-05-07', now: true, by: 'somebody-else' };
  const next = JSON.stringify(begun);
  expect(await duty.run(`prove --next ${next}`)).toMatchObject({ exitCode: 0 });
  const { result } = await duty.json('status --history');
  const me = 'arn:aws:iam::000000000000:root';
  expect(result).toMatchObject([{ history: [{ command: 'prove', by: me }] }]);
});

it('a refused command has not begun, so no command line to continue is printed', async () => {
  await duty.stage.completedTick();
  await duty.run('pause --reason maintenance');
  const { exitCode, stdout, stderr } = await duty.run(`${may} --now`);
  expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' });
  expect(stderr).toContain('error: The integration is paused.');
  expect(stderr).not.toContain('--next');
  expect(JSON.parse((await duty.run(`${may} --now --json`)).stdout)).not.toHaveProperty('next');
});

it('a certificate of thousands of years is refused before any request', async () => {
  const { exitCode, stdout, stderr } = await duty.run('prove --from 0001-01-01 --to 9999-12-31');
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(
    'error: A certificate covers 30 years at most.\n  Give a later --from or an earlier --to;',
  );
  expect(duty.cloudFormation.calls).toEqual([]);
});
