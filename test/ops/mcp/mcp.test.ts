import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contract } from '../../../lambda/commands/contract.ts';
import { commands } from '../../../ops/commands/index.ts';
import { toolsOf } from '../../../ops/mcp/tools.ts';
import { denied, desk, flooded, json, me } from '../desk.ts';
import { Assistant } from './assistant.ts';

const duty = desk(flooded, 2);
let assistant: Assistant;
const connect = async (options?: string) => {
  assistant = await new Assistant(duty, options).connect();
};
afterEach(() => assistant?.end());
const one = () => ({ integration: duty.story.name });

it.each([
  ['looking', { changes: false, integration: true }],
  ['changing', { changes: true, integration: false }],
])(
  'the tools of an assistant for %s, with their fields, of which those with ! are required',
  async (aim, allowed) => {
    const lines = toolsOf(commands, allowed).map(({ name, annotations, input, description }) => {
      const required = input.safeParse({}).error?.issues.flatMap(({ path }) => path) ?? [];
      const marked = (one: string) => (required.includes(one) ? `${one}!` : one);
      const fields = Object.keys(input.shape).map(marked);
      const { readOnlyHint, destructiveHint } = annotations;
      const effect = readOnlyHint ? 'reads' : destructiveHint ? 'final' : 'changes';
      const [when = ''] = /Changes something .*?\./.exec(description) ?? [];
      return `${name.padEnd(12)} ${effect.padEnd(7)} ${fields.join(' ')} ${when}`.trimEnd();
    });
    const approved = new URL(`../approved/tools-for-${aim}.txt`, import.meta.url);
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(fileURLToPath(approved));
  },
);

it.each(commands.filter(({ usage }) => usage in contract).map((one) => [one.usage, one]))(
  'the tool for %s changes something if its definition does, and describes its fields',
  (usage, command) => {
    const defined: Readonly<Record<string, { command: { shape: object } }>> = contract;
    expect(command.changes !== undefined).toBe('by' in (defined[usage]?.command.shape ?? {}));
    for (const { input } of toolsOf([command], { changes: true, integration: true }))
      for (const field of Object.values(input.shape)) expect(field.description).toMatch(/^[^ ]+ ./);
  },
);

it.each([
  ['looking', ''],
  ['changing', ' --allow-changes'],
])(
  'an assistant for %s is told the tools: each takes an object of described fields',
  async (aim, options) => {
    await connect(options);
    const { tools } = await assistant.client.listTools();
    const allowed = { changes: aim === 'changing', integration: true };
    const expected = toolsOf(commands, allowed);
    expect(tools.map(({ name }) => name)).toEqual(expected.map(({ name }) => name));
    for (const [index, { inputSchema }] of tools.entries()) {
      const { type, properties = {}, additionalProperties } = inputSchema;
      expect({ type, additionalProperties }).toEqual({
        type: 'object',
        additionalProperties: false,
      });
      expect(Object.keys(properties)).toEqual(Object.keys(expected[index]?.input.shape ?? {}));
      for (const field of Object.values(properties))
        expect(field).toMatchObject({ description: expect.stringMatching(/^[^ ]+ ./) });
    }
  },
);

describe('an assistant that may only look', () => {
  beforeEach(() => connect());

  it.each([
    ['status', {}, ''],
    ['check', {}, ''],
    ['holds', { type: ['created'] }, '--type created'],
    ['baseline', {}, ''],
    ['explain', { id: '21' }, '21'],
    ['holds', { organization: ['7'] }, '--organization 7'],
  ])('gets the words and the data of the command line: %s', async (name, given, typed) => {
    const { text, structured } = await assistant.call(name, { ...given, ...one() });
    const args = `${name} ${typed} --integration ${duty.story.name}`;
    expect(`${text}\n`).toBe((await duty.run(args)).stdout);
    expect(structured).toEqual({ ok: true, result: (await duty.json(args)).result });
  });

  it('sees late events also if it fills in false for each flag', async () => {
    const all = await assistant.call('events', { late: false, all: false, ...one() });
    expect(all.structured).toMatchObject({
      result: { events: [{ late: true }, { late: true }, { late: true }] },
    });
    expect(await assistant.call('events', { late: true, ...one() })).toEqual(all);
  });

  it('is told if an answer is larger than it can take', async () => {
    const years = { from: '1997-01-01', to: '2026-11-20', ...one() };
    const { text, structured } = await assistant.call('prove', years);
    expect(text).toContain('1997-01-01 to ');
    expect(structured).toEqual({
      ok: true,
      leftOut: expect.stringMatching(/^The result has [\d,]{7,} characters\. Ask for less, /),
    });
  });

  it('is refused each change, also one in a continued command', async () => {
    const now = { command: 'prove', from: '2019-05-06', to: '2019-05-06', now: true };
    expect(await assistant.call('prove', { next: now, ...one() })).toMatchObject({
      isError: true,
      structured: { ok: false, problem: { code: 'changes-not-allowed' } },
      text: expect.stringContaining('--allow-changes'),
    });
    await expect(assistant.call('release', { ...one(), confirm: true })).rejects.toThrow(/release/);
    expect(await duty.history()).toEqual([]);
  });

  it('gets the mistake and the next step', async () => {
    const several = await assistant.call('holds');
    expect(several).toMatchObject({ isError: true, structured: { problem: { code: 'usage' } } });
    expect(several.text).toContain('Give --integration: one of');
    const half = await assistant.call('prove', { next: { command: 'prove' }, ...one() });
    expect(half.text).toContain('error: next: not as an earlier call of prove gave it.');
    duty.lambda.always(async () => denied);
    const refused = await assistant.call('explain', { id: 1, ...one() });
    expect(refused).toMatchObject({ isError: true, structured: { problem: { fault: 'ops' } } });
    expect(refused.text).toContain('AWS refuses lambda:InvokeFunction');
  });

  it('may send several calls at once, which are answered in turn', async () => {
    const names = ['check', 'baseline', 'holds'];
    const seen: string[] = [];
    duty.lambda.always(async ({ forward }) => {
      seen.push('call');
      return forward().finally(() => void seen.push('answer'));
    });
    const asked = names.map((name) => assistant.call(name, { ...one() }));
    expect(await Promise.all(asked)).toMatchObject(names.map(() => ({ isError: false })));
    expect(seen).toEqual(names.flatMap(() => ['call', 'answer']));
  });

  it('gets progress on request, each line once', async () => {
    duty.lambda.always(async ({ forward }) => {
      const reply = await forward();
      for (let second = 0; second < 10; second += 1) duty.story.clock.advance({ seconds: 1 });
      return reply;
    });
    const lines: string[] = [];
    const onprogress = ({ message = '' }) => void lines.push(message);
    const call = { name: 'holds', arguments: { ...one() } };
    await assistant.client.callTool(call, { onprogress });
    expect(lines.at(-1)).toMatch(/^holds .* 10 s, an answer within 45 s$/);
    expect(new Set(lines).size).toBe(lines.length);
  });
});

describe('an assistant that may change something', () => {
  beforeEach(() => connect(` --allow-changes --integration ${duty.story.name}`));

  it.each([
    ['pause', { reason: 'maintenance' }, /^pause: Stops an integration.*"reason":"maintenance"/],
    ['resume', {}, /^resume: Lets the ticks/],
    ['tick', {}, /^tick: Runs a tick now/],
    ['test-event', {}, /^test-event: Sends an event about nobody/],
    ['discard', {}, /^3 events held(.|\n)*\nTell nobody, ever, of 3 events\?/],
    ['release', {}, /^3 events held(.|\n)*\nRelease 3 events\?/],
    ['accept-total', { total: 0 }, /come from a broken host(.|\n)*Take 0 as the right total/],
    ['baseline', { restart: true }, /Read everything of district-\d+ anew\?/],
    ['prove', { from: '2019-05-06', to: '2019-05-06', now: true }, /^prove: .*"now":true/],
    ['replay', { all: true, baseline: true }, /3 events would be sent/],
  ])(
    'is shown the effects of %s, which is carried out once confirmed',
    async (name, given, shown) => {
      const preview = await assistant.call(name, given);
      expect(preview).toMatchObject({ isError: false, structured: { confirmed: false } });
      const [whose, ...effects] = preview.text.split('\n');
      const { name: integration } = duty.story;
      expect(whose).toBe(`For ${integration} of the deployment ${duty.stack}:`);
      expect(preview.structured).toMatchObject({ deployment: duty.stack, integration });
      expect(effects.join('\n')).toMatch(shown);
      expect(preview.text).toContain('Nothing was changed.');
      expect(await duty.history()).toEqual([]);
      expect(duty.story.heard).toEqual([]);
      const done = await assistant.call(name, { ...given, confirm: true });
      expect(done).toMatchObject({ isError: false, structured: { ok: true } });
      const command = name === 'baseline' ? 'restart-baseline' : name;
      expect(await duty.history()).toMatchObject([{ command, by: me }]);
    },
  );
});

it.each(['12h', '12', 12])(
  'an assistant may give hours as text or as a number: %j',
  async (hours) => {
    await connect(` --allow-changes --integration ${duty.story.name}`);
    const { text } = await assistant.call('release', { for: hours });
    expect(text).toContain('and hold nothing new for 12 h?');
    expect(await assistant.call('release', { for: '99h' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('for: '),
    });
  },
);

it('an assistant cannot continue one command as another', async () => {
  await connect(` --allow-changes --integration ${duty.story.name}`);
  const next = { command: 'discard', until: '2030-01-01T00:00:00Z' };
  const { isError, text } = await assistant.call('release', { next, confirm: true });
  expect(isError).toBe(true);
  expect(text).toMatch(/^error: next: not as an earlier call of release gave it\.\n/);
  expect(await duty.history()).toEqual([]);
});

it('an assistant gets the rest of long work as the input of another call, before it would give up', async () => {
  await connect(` --allow-changes --integration ${duty.story.name}`);
  const next = { command: 'replay', days: {}, after: '2026-11-18/2' };
  const byType = { created: 2, updated: 0, withdrawn: 0, restored: 0 };
  duty.lambda.always(async () => {
    duty.story.clock.advance({ seconds: 5 });
    return json(200, { ok: true, result: { dryRun: false, events: 2, byType, skipped: {}, next } });
  });
  const part = await assistant.call('replay', { all: true, confirm: true });
  expect(part).toMatchObject({
    isError: false,
    structured: { ok: true, result: { events: 2 }, next },
  });
  expect(part.text).toMatch(/^2 events sent(.|\n)*This is a part: .*`next`/);
});

it('the server ends at Ctrl-C, also within a call', async () => {
  await connect();
  duty.lambda.always(async () => {
    assistant.program.interrupt();
    await assistant.program.ended;
    return undefined;
  });
  const call = assistant.call('status').catch(() => 'not answered');
  expect(await assistant.program.ended).toMatchObject({ exitCode: 0, stderr: '' });
  await assistant.client.close();
  await call;
});
