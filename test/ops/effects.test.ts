import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { queues } from '../scaffold/deployment.ts';
import { approved, Duty, masked } from './duty.ts';

const duty = new Duty();
const { stage } = duty;
beforeAll(() => duty.build({ integration: { holdAbove: 2 } }));
afterAll(() => duty.dismantle());
beforeEach(async () => {
  await duty.raise();
  await stage.completedTick();
});
afterEach(() => duty.strike());

const received = () => stage.events(queues.everything);

/** Runs a command, and compares its screen and its effects with the approved ones. */
async function screen(name: string, args: string, input?: string): Promise<void> {
  const { exitCode, stdout, stderr } = await duty.run(args, input === undefined ? {} : { input });
  const seen = masked(`${stdout}${stderr}exit ${exitCode}\n`)
    .replaceAll(/district-a\/\d+\//g, 'district-a/<id>/')
    // Keys that differ by ledger.
    .replaceAll(/(?<=[ ,])[\w-]{16}(?=,*$)/gm, '<digest>');
  await expect(seen).toMatchFileSnapshot(approved(`effects/${name}`));
}

/** More certifications at once than the limit. */
async function flood(): Promise<number[]> {
  const ids = [1, 2, 3].map(
    () =>
      stage.sandbox.world.add({ organization_id: stage.filtered, certified_on: '2019-05-06' }).id,
  );
  expect(await stage.completedTick()).toMatchObject({ held: 3 });
  return ids;
}

describe('the screen and the effects of a command:', () => {
  it('tick announces changes', async () => {
    const { id } = stage.sandbox.world.add();
    await screen('tick', 'tick');
    expect(await received()).toMatchObject([{ subject: String(id) }]);
  });

  it('pause stops the ticks, and resume lets them run again', async () => {
    await screen('pause', 'pause --reason maintenance');
    stage.sandbox.world.add();
    expect(await stage.completedTick()).toMatchObject({ outcome: 'paused' });
    await screen('status-paused', 'status --history');
    await screen('resume', 'resume --reason over');
    expect(await stage.completedTick()).toMatchObject({ delivered: 1 });
  });

  it('release sends held events', async () => {
    await flood();
    await screen('release', 'release --yes');
    await stage.completedTick();
    expect(await received()).toHaveLength(3);
  });

  it('release --digest tells people, and no system', async () => {
    await flood();
    await screen('release-digest', 'release --digest --yes');
    await stage.completedTick();
    expect(await received()).toEqual([]);
    expect(await stage.mails()).toHaveLength(1);
  });

  it('discard drops held events', async () => {
    await flood();
    await screen('discard', 'discard --yes');
    await stage.completedTick();
    expect(await received()).toEqual([]);
    expect(await duty.json('holds')).toMatchObject({ result: { events: 0 } });
  });

  it('replay sends announced events again', async () => {
    const added = stage.sandbox.world.add();
    await stage.completedTick();
    await received();
    await screen('replay-dry-run', 'replay --all --dry-run');
    expect(await received()).toEqual([]);
    await screen('replay', 'replay --from 2020-01-01');
    expect(await received()).toMatchObject([{ subject: String(added.id), data: { replay: true } }]);
  });

  it('replay of an unknown id', async () => {
    await screen('replay-unknown', 'replay --id 999999');
    expect(await received()).toEqual([]);
  });

  it('holds, release and discard of an unknown id', async () => {
    await flood();
    await screen('holds-unknown', 'holds --id 999999');
    await screen('release-unknown', 'release --yes --id 999999');
    await screen('discard-unknown', 'discard --yes --id 999999');
    expect(await duty.json('holds')).toMatchObject({ result: { events: 3 } });
  });

  it('test-event sends an event that says so', async () => {
    await screen('test-event', `test-event --organization ${stage.filtered}`);
    expect(await received()).toMatchObject([{ type: 'certification.test' }]);
    expect(await stage.events(queues.oneOrganization)).toHaveLength(1);
  });

  it('baseline --restart reads all days again, and announces nothing again', async () => {
    await screen('baseline-restart', 'baseline --restart --yes --reason restored');
    await screen('baseline-running', 'baseline');
    await stage.completedTick();
    expect(await duty.json('baseline')).toMatchObject({ result: { status: 'completed' } });
    expect(await received()).toEqual([]);
  });

  it('accept-total lets missing certifications be withdrawn', async () => {
    const { world } = stage.sandbox;
    const gone = [...world.assessments()].slice(0, 20).map(({ id }) => id);
    for (const id of gone) world.remove(id);
    for (let ticks = 0; ticks < 2; ticks += 1) await stage.completedTick();
    await screen('status-missing', 'status');
    await screen('accept-another-total', 'accept-total 20 --yes');
    await screen('accept-total', 'accept-total 10 --yes --reason agreed');
    const [first, second] = [await stage.completedTick(), await stage.completedTick()];
    expect(Number(first.withdrawn) + Number(second.withdrawn)).toBe(20);
    expect(second.missing).toBe(0);
  });

  it('credentials set stores credentials', async () => {
    const { clientId: client_id, clientSecret: client_secret } = stage.sandbox.credentials;
    await stage.beginWithSecret('{}');
    const right = JSON.stringify({ client_id, client_secret });
    await screen('credentials-set', 'credentials set', right);
    expect(stage.aws.secrets.get(stage.aws.secretNames[0] ?? '').value).toBe(right);
  });

  it('prove shows each day, and with --now reads the days again first', async () => {
    const { world } = stage.sandbox;
    const [oldest] = world.assessments();
    const day = oldest?.certified_on ?? '';
    const [, elsewhere] = world.organizations;
    const days = `prove --from ${day} --to ${day}`;
    await screen('prove', days);
    await screen('prove-csv', `${days} --csv`);
    world.change(oldest?.id ?? 0, { organization_id: elsewhere?.id ?? 0 });
    await screen('prove-now', `${days} --now`);
    expect(await received()).toMatchObject([{ type: 'certification.updated' }]);
  });

  it('watch shows events and ticks as they come', async () => {
    const program = duty.start('watch');
    await program.shows(/ tick /);
    stage.sandbox.world.add({ certified_on: '2019-05-06', organization_id: stage.filtered });
    await stage.completedTick();
    await program.shows(/ created /);
    program.interrupt();
    const { exitCode, stdout, stderr } = await program.ended;
    const seen = masked(`${stderr}${stdout}exit ${exitCode}\n`).replaceAll(
      /assessment \d+/g,
      'assessment <id>',
    );
    await expect(seen).toMatchFileSnapshot(approved('effects/watch'));
  });
});
