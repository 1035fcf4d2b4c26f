import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queues } from '../scaffold/deployment.ts';
import { approved, Duty, masked, raisedEach, raisedOnce } from './duty.ts';

const duty = new Duty();
beforeAll(() => duty.build({ integration: { holdAbove: 2 } }));
afterAll(() => duty.dismantle());

/** More certifications at once than the limit. */
async function flood(): Promise<void> {
  const { stage } = duty;
  await stage.completedTick();
  for (let index = 0; index < 3; index += 1)
    stage.sandbox.world.add({ organization_id: stage.filtered, certified_on: '2019-05-06' });
  expect(await stage.completedTick()).toMatchObject({ held: 3 });
}

const received = () => duty.stage.events(queues.everything);

describe('the list of held events, before a decision,', () => {
  raisedOnce(duty, flood);

  it("is advised with the reader's own place: this machine, or a stack in AWS", async () => {
    const advised = async (where: string) => {
      const { stdout } = await duty.runAnywhere(`status ${where} --no-partner`);
      return /npx certification-notifier holds (.*)/.exec(stdout)?.[1];
    };
    expect(await advised('--local')).toBe('--local --integration district-a');
    const inAws = `--stack ${duty.stack}`;
    expect(await advised(inAws)).toBe(`${inAws} --integration district-a`);
    const inRegion = `${inAws} --region us-east-1`;
    expect(await advised(inRegion)).toBe(`${inRegion} --integration district-a`);
    const byScript = await duty.runAnywhere(`status ${inRegion} --no-partner`, {
      env: { npm_lifecycle_event: 'ops' },
    });
    expect(byScript.stdout).toContain(`npm run ops -- holds ${inRegion} --integration district-a`);
  });

  it('is unchanged if nobody is there to confirm', async () => {
    for (const command of ['release', 'discard']) {
      const { exitCode, stderr } = await duty.run(command);
      expect(exitCode).toBe(2);
      expect(stderr).toContain('Give --yes');
    }
    expect(await duty.json('holds')).toMatchObject({ result: { events: 3 } });
  });

  it('is unchanged by a continued command that nobody confirmed, or with other options', async () => {
    const counted = JSON.stringify({ until: '2999-01-01T00:00:00Z' });
    for (const [words, why] of [
      [`discard --next ${counted}`, 'Give --yes'],
      ['discard --yes --next {}', 'until when'],
      [`discard --yes --year 2018 --next ${counted}`, "'--year <years>'"],
      ['replay --dry-run --next {"ids":[1]}', "'--dry-run'"],
    ] as const) {
      const { exitCode, stderr } = await duty.run(words);
      expect(exitCode).toBe(2);
      expect(stderr).toContain(why);
    }
    expect(await duty.json('holds')).toMatchObject({ result: { events: 3 } });
  });

  it('is not called empty if no event matches', async () => {
    for (const command of ['holds', 'release', 'discard']) {
      const { exitCode, stdout } = await duty.run(`${command} --organization 1`);
      expect({ exitCode, stdout }).toEqual({
        exitCode: 0,
        stdout: '3 events held, and none of them matches.\n',
      });
      expect(await duty.json(`${command} --year 1999`)).toMatchObject({
        result: { events: 0, altogether: 3 },
      });
    }
  });
});

describe('a decision on held events', () => {
  raisedEach(duty, flood);

  it('is shown, carried out by the next tick, and on record with its caller', async () => {
    const { stdout } = await duty.run('holds');
    await expect(masked(stdout)).toMatchFileSnapshot(approved('holds'));
    const list = (await duty.run('holds --list')).stdout;
    expect(masked(list)).toMatch(
      / assessment +rev +type +since\n( +\d+ +1 +created +<moment>\n){3}\n {2}to send/,
    );
    const { result } = await duty.json('holds --list');
    expect(result).toMatchObject({ list: [{ revision: 1 }, { revision: 1 }, { revision: 1 }] });
    const filtered = await duty.run(
      `holds --organization ${duty.stage.filtered} --type created,updated`,
    );
    expect(filtered.stdout).toContain(
      `release --organization ${duty.stage.filtered} --type created,updated --stack ${duty.stack}\n`,
    );
    const { exitCode, stdout: done } = await duty.run('release --yes');
    expect({ exitCode, done }).toEqual({ exitCode: 0, done: '3 events released: 3 created\n' });
    await duty.stage.completedTick();
    expect(await received()).toHaveLength(3);
    expect((await duty.run('status --history')).stdout).toMatch(
      /release +done +arn:aws:iam::000000000000:root +waiting=held/,
    );
  });

  it.each(['release', 'discard'])(
    'includes the counted events, and none that came since: %s',
    async (name) => {
      duty.lambda.once(duty.invocation, async ({ forward }) => {
        const counted = await forward();
        const { sandbox, filtered } = duty.stage;
        for (let index = 0; index < 4; index += 1)
          sandbox.world.add({ organization_id: filtered, certified_on: '2018-05-06' });
        expect(await duty.stage.completedTick()).toMatchObject({ held: 4 });
        return counted;
      });
      expect(await duty.json(`${name} --yes`)).toMatchObject({
        exitCode: 0,
        result: { events: 3 },
      });
      expect(await duty.json('holds')).toMatchObject({
        result: { events: 4, byYear: [{ year: 2018, events: 4 }] },
      });
    },
  );

  it('may discard them: nobody hears of them, and a repetition changes nothing', async () => {
    const answer = await duty.json('discard --year 2019 --yes');
    expect(answer).toMatchObject({ exitCode: 0, ok: true, result: { events: 3 } });
    expect(await duty.json('discard --yes')).toMatchObject({ exitCode: 0, result: { events: 0 } });
    await duty.stage.completedTick();
    expect(await received()).toEqual([]);
  });

  it('takes effect after a pause, and says so', async () => {
    await duty.run('pause --reason maintenance');
    expect((await duty.run('release --yes')).stdout).toMatch(
      /^3 events released: 3 created\nTakes effect after resume: the integration is paused since .* E[SD]T by .*: maintenance\n$/,
    );
  });

  it('may release them, and let a busy day pass', async () => {
    expect((await duty.run('release --for 12h --yes')).stdout).toMatch(
      /^3 events released: 3 created\nNothing new is held until .* \(in 1[12] h[^)]*\)\.\n$/,
    );
    const again = await duty.json('release --for 0h --yes');
    expect(again).toMatchObject({ exitCode: 0, result: { events: 0 } });
    for (const wrong of ['--for 12', '--for 99h', '--for 12h --year 2019', '--for 1h --digest'])
      expect(await duty.run(`release --yes ${wrong}`)).toMatchObject({ exitCode: 2 });
  });

  it('may release some of them', async () => {
    expect(await duty.json('release --organization 1 --yes')).toMatchObject({
      result: { events: 0 },
    });
    const some = `release --organization ${duty.stage.filtered} --type created --yes`;
    expect(await duty.json(some)).toMatchObject({ result: { events: 3 } });
  });
});

describe('a pause', () => {
  raisedEach(duty, () => duty.stage.completedTick());

  it('stops the ticks until it is over, and status has its caller and its reason', async () => {
    expect(await duty.run('pause --reason maintenance')).toMatchObject({ exitCode: 0 });
    expect((await duty.run('pause --reason again')).stdout).toMatch(
      /It is paused since .*: maintenance \(as it was before\)/,
    );
    expect((await duty.run('tick')).stdout).toContain('the integration is paused');
    expect((await duty.run('status')).stdout).toMatch(
      /^district-a {2}not up to date: paused since .* by arn:aws:iam::000000000000:root: maintenance\n/,
    );
    expect((await duty.run('status')).stdout).toMatch(
      RegExp(
        `^ {2}to do .* npx certification-notifier resume --stack ${duty.stack} --integration`,
        'm',
      ),
    );
    expect(await duty.json('resume')).toMatchObject({ exitCode: 0, result: { changed: true } });
    expect((await duty.run('tick')).stdout).toContain('completed');
  });
});

describe('a baseline', () => {
  raisedEach(duty);

  it('that has not begun says how it begins', async () => {
    const before = await duty.run('baseline');
    expect(before).toMatchObject({ exitCode: 0, stderr: '' });
    expect(before.stdout).toBe(
      'baseline  not begun\nThe first tick that reaches the partner begins it; status says why none has.\n',
    );
    await duty.stage.beginWithSecret('{"client_id":"","client_secret":""}');
    await duty.stage.tick();
    expect((await duty.run('baseline')).stdout).toContain('baseline  not begun\n');
  });

  it('that is followed reports a pause, and ends', async () => {
    await duty.stage.completedTick();
    await duty.run('baseline --restart --yes');
    await duty.run('pause --reason maintenance');
    const { exitCode, stdout } = await duty.run('baseline --follow');
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^baseline .*\nTakes effect after resume: the integration is paused since .*: maintenance\n$/,
    );
    expect(await duty.json('baseline --follow')).toMatchObject({
      exitCode: 1,
      ok: true,
      result: { status: 'running', paused: { reason: 'maintenance' } },
    });
  });

  it('that is followed says why it waits, and waits until it is completed', async () => {
    duty.clock.meanwhile = () => duty.stage.completedTick();
    const { exitCode, stdout, stderr } = await duty.run('baseline --follow');
    expect(stderr).toContain('The baseline is not begun');
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: 'baseline  completed: 30 certifications\n',
    });
  });

  it('is restarted only with a confirmation', async () => {
    await duty.stage.completedTick();
    expect(await duty.run('baseline --restart')).toMatchObject({ exitCode: 2 });
    expect(await duty.json('baseline')).toMatchObject({ result: { status: 'completed' } });
    expect(await duty.json('baseline --restart --yes')).toMatchObject({
      result: { changed: true },
    });
    expect(await duty.json('baseline')).toMatchObject({ result: { counted: 0 } });
    await duty.stage.completedTick();
    expect(await duty.json('baseline --follow')).toMatchObject({ result: { status: 'completed' } });
    expect(await received()).toEqual([]);
  });
});
