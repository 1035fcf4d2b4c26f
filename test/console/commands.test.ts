import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Duty, raisedEach } from '../ops/duty.ts';
import { queues } from '../scaffold/deployment.ts';
import { Visitor } from './visitor.ts';

const duty = new Duty();
const { stage } = duty;
beforeAll(() => duty.build({ integration: { holdAbove: 2 } }));
afterAll(() => duty.dismantle());
raisedEach(duty, () => stage.completedTick());
let visitor: Visitor;
beforeEach(async () => {
  visitor = await Visitor.at(duty);
});
afterEach(() => visitor[Symbol.asyncDispose]());

const at = (command: string) => `i/district-a/commands/${command}`;
/** The path of the run on a page. */
const runIn = (text: string) => /action="(i\/district-a\/runs\/[^"]+)"/.exec(text)?.[1] ?? '';

/** More certifications at once than the limit. */
async function flood(): Promise<void> {
  for (const certified_on of ['2019-05-06', '2019-05-07', '2019-05-08'])
    stage.sandbox.world.add({ organization_id: stage.filtered, certified_on });
  expect(await stage.completedTick()).toMatchObject({ held: 3 });
}

describe('the command console', () => {
  it('prints an address, and ends on request', async () => {
    const program = duty.start('console --port 0');
    await program.shows(/http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\//);
    const [url = ''] = /http:\S+/.exec(program.output.text) ?? [];
    expect(await (await fetch(url)).text()).toContain('up to date');
    program.interrupt();
    expect(await program.ended).toMatchObject({ exitCode: 0, stderr: '' });
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  it('says which port is taken', async () => {
    const { port } = new URL(visitor.origin);
    const { exitCode, stderr } = await duty.run(`console --port ${port}`);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 2 });
    expect(stderr).toContain(`error: The port ${port} is taken.`);
  });

  it('says that there is no such stack', async () => {
    const { exitCode, stderr } = await duty.runAnywhere('console --stack nowhere');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('error: There is no stack nowhere in us-east-1.');
  });
});

describe('a deployment that the console has found', () => {
  const calls = (operation: string) =>
    duty.cloudFormation.calls.filter((one) => one === operation).length;

  it.each([
    ['has lost a function', 'ResourceNotFoundException', 404, 'There is no function '],
    ['refuses the sign-in', 'ExpiredTokenException', 403, 'have expired.'],
  ])('is looked up again once it %s', async (_, type, status, told) => {
    expect((await visitor.opens('i/district-a/events')).status).toBe(200);
    const before = calls('DescribeStacks');
    const body = JSON.stringify({ __type: type });
    duty.lambda.once(duty.invocation, async () => ({ status, type: 'application/json', body }));
    expect((await visitor.opens('i/district-a/events')).text).toContain(told);
    expect((await visitor.opens('i/district-a/events')).status).toBe(200);
    expect(calls('DescribeStacks')).toBe(before + 1);
  });
});

describe('the page Now', () => {
  it('draws the last ticks and hours, and has the time of the next tick', async () => {
    await flood();
    const { text } = await visitor.opens('i/district-a/now');
    expect(text).toMatch(/<title id="ticks-title">The last \d+ ticks<\/title>/);
    expect(text).toMatch(/<title id="hours-title">The last hour<\/title>/);
    expect(text).toMatch(/<title>2026-\S+ \d\d:\d\d \S+: \d+ requests?, 3 found, 3 held<\/title>/);
    expect(text).toMatch(/<dt>next tick<\/dt><dd>(?:within|now)/);
  });
});

describe('a command given at the console', () => {
  it('has the effect of the command line, and is on record with its caller', async () => {
    const { text } = await visitor.sends(at('pause'), { reason: 'maintenance' });
    expect(text).toContain('pause --reason=maintenance');
    await visitor.sees('i/district-a/now', /paused since .* by .*: maintenance/);
    const { stdout } = await duty.run('status --history');
    expect(stdout).toMatch(/pause +done +arn:aws:\S+ +reason=maintenance/);
  });

  it('asks before a change, and changes only the counted events', async () => {
    await flood();
    const asked = await visitor.sends(at('release'), {});
    const run = runIn(asked.text);
    const shown = await visitor.sees(run, /Release 3 events\?/);
    expect(shown).toContain('3 events held');
    // This event came after the question, so it is excluded.
    stage.sandbox.world.add({ organization_id: stage.filtered, certified_on: '2019-05-09' });
    expect(await stage.completedTick()).toMatchObject({ held: 1 });
    await visitor.sends(run, { answer: 'yes' });
    expect(await visitor.sees(run, /It has ended/)).toContain('3 events released');
    await stage.completedTick();
    expect(await stage.events(queues.everything)).toHaveLength(3);
  });

  it('reaches a page that was opened before it began to listen', async () => {
    const opened = Date.now();
    const { path } = await visitor.sends(at('explain'), { id: '1' });
    await visitor.sees(path, /It has ended/);
    const live = new URL(`live?since=${opened}`, visitor.url);
    const { body } = await fetch(live, { signal: AbortSignal.timeout(20_000) });
    const reader = body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toContain('event: change');
    await reader?.cancel();
  });

  it('refreshes only its own page, and all others once it has ended', async () => {
    await flood();
    const { body } = await fetch(new URL('live', visitor.url), {
      signal: AbortSignal.timeout(20_000),
    });
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    let heard = '';
    const hears = async (pattern: RegExp) => {
      while (!pattern.test(heard)) heard += (await reader?.read())?.value ?? '';
    };
    const run = runIn((await visitor.sends(at('discard'), {})).text);
    await visitor.sees(run, /Tell nobody, ever, of 3 events\?/);
    await hears(/event: change\ndata: \S+\n/);
    expect(new Set(heard.match(/(?<=event: change\n)data:.*/g))).toEqual(new Set([`data: ${run}`]));
    await visitor.sends(run, { answer: 'no' });
    await hears(/event: change\ndata: \n/);
    await reader?.cancel();
  });

  it('changes nothing after the answer no', async () => {
    await flood();
    const run = runIn((await visitor.sends(at('discard'), {})).text);
    await visitor.sees(run, /Tell nobody, ever, of 3 events\?/);
    await visitor.sends(run, { answer: 'no' });
    await visitor.sees(run, /Not confirmed/);
    expect(await duty.json('holds')).toMatchObject({ exitCode: 0, result: { events: 3 } });
  });

  it('does not prevent simultaneous answers to command lines', async () => {
    const [page, ...answers] = await Promise.all([
      visitor.opens('i/district-a/held'),
      ...['holds', 'status', 'check'].map((command) => duty.json(command)),
    ]);
    expect(page.status).toBe(200);
    expect(answers.map(({ ok }) => ok)).toEqual([true, true, true]);
  });

  it('takes typed text as a value, and never as an option', async () => {
    const reason = '--stack=other --yes';
    await visitor.sends(at('pause'), { reason });
    await visitor.sees('i/district-a/now', /--stack=other --yes/);
    const explained = await visitor.sends(at('explain'), { id: '--help' });
    expect(explained.text).toContain('explain -- --help');
    await visitor.sends('i/district-a/now', {});
  });

  it('is accepted from a form of the console only', async () => {
    const sent = await visitor.raw(visitor.at(at('pause')), {
      method: 'POST',
      headers: { origin: visitor.origin, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'reason=x&run=../../now',
    });
    expect(sent).toMatchObject({ status: 400 });
    expect(sent.text).toContain('This is no form of the console.');
    expect((await visitor.opens('i/district-a/now')).text).not.toContain('paused');
  });

  it('names the mistake in a typed value', async () => {
    const { path } = await visitor.sends(at('prove'), { from: 'yesterday', to: '2019-05-06' });
    expect(await visitor.sees(path, /It has ended with 2/)).toContain('Allowed: a day');
  });

  it('shows foreign texts as text', async () => {
    await visitor.sends(at('pause'), { reason: '<img src=x onerror=alert(1)>' });
    const text = await visitor.sees('i/district-a/now', /onerror/);
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(text).not.toContain('<img');
  });
});
