import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approved, Duty, masked } from './duty.ts';

// One story for all screens, in which nothing is changed: they may come in any order.
const duty = new Duty();
let certified = 0;
beforeAll(async () => {
  await duty.build();
  await duty.raise();
  await duty.stage.completedTick();
  certified = duty.stage.sandbox.world.add({ organization_id: duty.stage.filtered }).id;
  await duty.stage.completedTick();
});
afterAll(async () => {
  await duty.strike();
  await duty.dismantle();
});

const screen = async (args: string) => {
  const { stdout, stderr, exitCode } = await duty.run(args);
  return masked(`${stdout}${stderr}exit ${exitCode}\n`).replaceAll(String(certified), '<id>');
};

describe('the screen of', () => {
  it.each([
    ['status', 'status --no-partner'],
    ['check', 'check'],
    ['tick', 'tick'],
    ['explain-unknown', 'explain 999999'],
    ['baseline', 'baseline'],
    ['holds-none', 'holds'],
    ['release-none', 'release'],
    ['resume-not-paused', 'resume'],
    ['accept-nothing', 'accept-total 3 --yes'],
  ])('%s', async (name, args) => {
    await expect(await screen(args)).toMatchFileSnapshot(approved(name));
  });

  it('explain', async () => {
    await expect(await screen(`explain ${certified}`)).toMatchFileSnapshot(approved('explain'));
  });
});

describe('check', () => {
  it('ends with 1 when something has failed, and says what to do', async () => {
    duty.stage.partner.once('/oauth/token', async () => ({
      status: 401,
      type: 'application/json',
      body: '{"error":"invalid_client"}',
    }));
    await duty.stage.operate.kill();
    duty.stage.partner.always(async (call) =>
      call.operation === '/oauth/token'
        ? { status: 401, type: 'application/json', body: '{"error":"invalid_client"}' }
        : call.forward(),
    );
    const { exitCode, stdout } = await duty.run('check');
    duty.stage.partner.reset();
    expect(exitCode).toBe(1);
    expect(stdout).toContain('(credentials-refused)');
    expect(stdout).toContain('skipped  scope');
  });
});

describe('status', () => {
  it('says so when the partner is down, and all else all the same', async () => {
    duty.stage.partner.always(async () => ({ status: 503, type: 'text/plain', body: '' }));
    const { exitCode, stdout } = await duty.run('status');
    duty.stage.partner.reset();
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/31 known; the partner gives no total: .*status 503/);
  });
});

describe('prove', () => {
  it('tells of each day, and has the same as CSV and JSON', async () => {
    const range = 'prove --from 2020-01-01 --to 2099-12-31';
    const { stdout, exitCode } = await duty.run(range);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/\ncomplete: [\d,]+ of [\d,]+ days proven, 31 certifications\n$/);
    const csv = (await duty.run(`${range} --csv`)).stdout.trim().split('\n');
    expect(csv[0]).toBe('day,count,proven,proof,proven_at,digest,read_with');
    const { result } = await duty.json(range);
    expect(result).toMatchObject({ unproven: 0, proven: csv.length - 1 });
  });

  it('has to be told which days', async () => {
    expect(await duty.run('prove --from 2026-11-01')).toMatchObject({ exitCode: 2 });
    expect(await duty.run('prove --from 2026-11-02 --to 2026-11-01')).toMatchObject({
      exitCode: 2,
    });
  });
});
