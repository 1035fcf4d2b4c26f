import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contract } from '../../lambda/operations/contract.ts';
import { countedCertificate } from '../../ops/render/prove.ts';
import { approved, Duty, masked } from './duty.ts';

// One story for all screens, none of which changes data. They may come in any order.
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

describe('explain', () => {
  it.each([
    [503, '', 5, 'gives no answer'],
    [400, '{"errors":[{"message":"Invalid or missing tenant ids"}]}', 5, 'status 400'],
  ])(
    "of an unknown id has the partner's answer %i, and its exit code",
    async (status, body, exitCode, said) => {
      duty.stage.partner.always(async (call) =>
        call.operation === '/oauth/token'
          ? call.forward()
          : { status, type: 'application/json', body },
      );
      const explained = await duty.run('explain 999999');
      duty.stage.partner.reset();
      expect(explained.stdout).toMatch(/^assessment 999999 {2}not known here, and the partner /);
      expect(explained.stdout).toContain(said);
      expect(explained.exitCode).toBe(exitCode);
    },
  );
});

describe('events', () => {
  const events = async (args: string) =>
    contract.events.result.parse((await duty.json(`events ${args}`)).result);

  it('has each event, and the same ones as CSV and JSON', async () => {
    await expect(await screen('events')).toMatchFileSnapshot(approved('events'));
    const csv = (await screen('events --csv')).split('\n');
    expect(csv[0]).toBe(
      'at,type,assessment_id,revision,event,delivery,late,changed,certified_on,presence,organization_id,assessment_name',
    );
    expect(csv).toHaveLength(3 + 1);
    expect(csv[1]).toMatch(
      /^<instant>,created,<id>,1,district-a\/<id>\/1,announced,false,,<day>,present,\d+,\w.*$/,
    );
    expect(await events('--type created --all')).toMatchObject({
      events: [{ id: certified, type: 'created' }],
    });
    const organization = duty.stage.filtered;
    expect((await events(`--organization ${organization}`)).events).toHaveLength(1);
    expect((await events(`--organization ${organization + 1_000}`)).events).toEqual([]);
  });

  it('has none if none matches', async () => {
    for (const none of ['--late', '--to 2026-01-02', '--delivery held', '--assessment Juggling'])
      expect((await duty.run(`events ${none}`)).stdout).toBe('No event of these days matches.\n');
  });

  it.each([
    ['--csv --json', '--csv and --json exclude each other.'],
    ['--from 2026-11-02 --to 2026-11-01', '--from 2026-11-02 is after --to 2026-11-01.'],
    ['--delivery sent', 'Allowed: baseline, announced,'],
    ['--all --limit 3', "'--all' cannot be used with option '--limit <number>'"],
  ])('refuses %s', async (args, said) => {
    const { exitCode, stdout, stderr } = await duty.run(`events ${args}`);
    expect(exitCode).toBe(2);
    expect(stdout + stderr).toContain(said);
  });
});

describe('prove', () => {
  it('has each day, and the same ones as CSV and JSON', async () => {
    const range = 'prove --from 2010-01-01 --to 2039-12-31';
    const { stdout, exitCode } = await duty.run(range);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /\ncomplete so far: [\d,]+ of [\d,]+ days proven, today .+, [\d,]+ days still to come, 31 certifications\n$/,
    );
    const csv = (await duty.run(`${range} --csv`)).stdout.trim().split('\n');
    expect(csv[0]).toBe('day,count,since,state,proof,proven_at,digest,read_with,cause,neighbour');
    const { result } = await duty.json(range);
    const { proven, ...sums } = countedCertificate(contract.prove.result.parse(result));
    expect(result).toMatchObject({ proven, ...sums, open: 1, unproven: 0 });
    expect(proven + 1 + sums.notYet).toBe(csv.length - 1);
  });

  it('needs days', async () => {
    expect(await duty.run('prove --from 2026-11-01')).toMatchObject({ exitCode: 2 });
    expect(await duty.run('prove --from 2026-11-02 --to 2026-11-01')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--from 2026-11-02 is after --to 2026-11-01.'),
    });
  });
});
