import { describe, expect, it } from 'vitest';
import { reasons } from '../../lambda/commands/status.ts';
import { adviceByReason } from '../../ops/advised-status.ts';
import { needsSomebody } from '../../ops/render/status.ts';
import { answering, denied, desk, json, me, settled } from './desk.ts';

const duty = desk(settled, 2);
const names = () => duty.stories.map(({ name }) => name);
const only = () => `--integration ${duty.story.name}`;
const gone = json(404, { __type: 'ResourceNotFoundException' });
const disabled = json(200, { State: 'DISABLED' });

describe('of several integrations', () => {
  it.each(['status', 'check'])('%s shows all, or one, also if the other fails', async (command) => {
    const shown = async (options = '') => {
      const { stdout, ...ended } = await duty.run(`${command} ${options}`);
      return { ...ended, names: stdout.match(/^district-\d+/gm) };
    };
    const [first, second = ''] = names();
    expect(await shown()).toEqual({ exitCode: 0, stderr: '', names: names() });
    expect(await shown(only())).toMatchObject({ exitCode: 0, names: [first] });
    duty.lambda.always(answering(second, denied));
    expect(await shown()).toEqual({
      ...{ exitCode: 4, names: [first] },
      stderr: expect.stringContaining(`error: ${second}: AWS refuses lambda:InvokeFunction`),
    });
    expect(await duty.json(command)).toMatchObject({
      ...{ exitCode: 4, ok: false, problem: { code: 'not-permitted' } },
      result: [expect.anything()],
    });
  });

  it('one has to be named for a change, which is on record there alone', async () => {
    const pause = 'pause --reason moves';
    expect(await duty.run(pause)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`Give --integration: one of ${names().join(', ')}.`),
    });
    expect(await duty.run(`${pause} --integration district-z`)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining(`It watches ${names().join(', ')}.`),
    });
    expect(await duty.run(`${pause} ${only()}`)).toMatchObject({ exitCode: 0 });
    expect(await duty.json('status --history')).toMatchObject({
      result: [{ history: [{ command: 'pause', by: me }] }, { history: [] }],
    });
  });
});

it.each([
  [[], false],
  [['paused'], false],
  [['baseline', 'differs', 'owing'], false],
  [['paused', 'held'], true],
  [['unfinished'], true],
] as const)('a status with the reasons %j needs somebody: %s', (reasons, isNeeded) => {
  expect(needsSomebody({ reasons: [...reasons] })).toBe(isNeeded);
});

it.each([
  ['status', 'Ticks', disabled, 0, / not up to date: the schedule is disabled, so no tick is st/],
  ['status', 'Ticks', gone, 0, / not up to date: the schedule does not exist, so no tick is st/],
  ['status', 'Ticks', denied, 0, / up to date\n/],
  ['check', 'Ticks', disabled, 1, /^ {2}failed +schedule .*\n +→ /m],
  ['check', 'Ticks', gone, 1, /^ {2}failed +schedule .*\n +→ /m],
  ['check', 'Ticks', denied, 0, /^ {2}skipped +schedule .*AWS refuses scheduler:GetSchedule/m],
  ['check', 'SelfCheck', disabled, 1, /^ {2}failed +self-check .* is disabled\.\n +→ /m],
  ['check', 'SelfCheck', gone, 1, /^ {2}failed +self-check .* is removed\.\n +→ /m],
])('%s looks at the schedule of %s (case %#)', async (command, schedule, reply, exitCode, said) => {
  duty.aws.always(answering(schedule, reply));
  const { stdout, ...ended } = await duty.run(`${command} ${only()}`);
  expect(stdout).toMatch(said);
  expect(ended).toEqual({ exitCode, stderr: '' });
});

it('check asks about the subscriptions that the schedule of the self-checks names', async () => {
  const subscriptions = [{ topic: 'events', protocol: 'email', name: 'subscriptions[0]' }];
  const Target = { Input: JSON.stringify({ subscriptions }) };
  duty.aws.always(answering('SelfCheck', json(200, { State: 'ENABLED', Target })));
  const [call] = [duty.answers({ checks: [] })];
  await duty.run(`check ${only()}`);
  expect(JSON.parse(call[0]?.body ?? '')).toMatchObject({ subscriptions });
});

it.each([
  ['--stack prod', {}, 'npx certification-notifier'],
  ['--stack prod --region eu-west-1', {}, 'npx certification-notifier'],
  ['--stack prod', { npm_lifecycle_event: 'ops' }, 'npm run ops --'],
])("advice is for the reader's own place: %s %j", async (where, env, program) => {
  duty.story.host.access.rotateSecret();
  const { stdout } = await duty.runAnywhere(`check ${where} ${only()}`, { env });
  expect(stdout).toContain(`${program} credentials set ${where} ${only()}\n`);
});

it('baseline --follow says why it waits, and waits until it is completed, with its share', async () => {
  await duty.begin((story) => story.minute());
  await duty.story.operate({ command: 'restart-baseline', by: me });
  const program = duty.start('baseline --follow', { isTTY: true });
  duty.lambda.always(async ({ forward }) => {
    const reply = await forward();
    duty.story.clock.advance({ seconds: 5 });
    if (duty.lambda.calls.length > 2) await duty.story.minutes(2);
    return reply;
  });
  const { exitCode, stdout, stderr } = await program.ended;
  expect(stderr).toContain('The baseline is running; ticks go on with it.');
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: 'baseline  completed: 0 certifications\n',
  });
});

it.each(reasons)('%s has a command, names a contact, or needs nothing', (reason) => {
  const { toDo, command } = adviceByReason()[reason];
  expect(toDo).toMatch(/^[A-Z].*\.$/);
  if (command === undefined) expect(toDo).toMatch(/^Nothing\b|partner|cdk deploy|^Grant/);
  if (/^(never-ticked|backing-off|partner-silent)$/.test(reason))
    expect(command).toEqual({ ops: 'check' });
});
