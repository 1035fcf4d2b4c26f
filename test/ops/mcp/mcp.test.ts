import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { definitions } from '../../../lambda/operations/contract.ts';
import { commands } from '../../../ops/commands/index.ts';
import { toolsOf } from '../../../ops/mcp/tools.ts';
import { denied, desk, flooded, me } from '../desk.ts';
import { Assistant } from './assistant.ts';

const duty = desk(flooded, 2);
let assistant: Assistant;
const connect = async (options?: string) => {
  assistant = await new Assistant(duty, options).connect();
};
afterEach(() => assistant?.end());
const one = () => ({ integration: duty.story.name });

describe('the tools', () => {
  const tools = (changes: boolean) => {
    const all = toolsOf(commands, { changes, integration: !changes });
    return new Map(all.map((tool) => [tool.name, tool]));
  };
  const fields = (changes: boolean, name: string) =>
    Object.keys(tools(changes).get(name)?.input.shape ?? {});

  it('of an assistant that may only look are the commands that do not always change something', () => {
    expect([...tools(false).keys()].sort()).toEqual([
      ...['baseline', 'check', 'events', 'explain', 'holds', 'prove', 'status'],
    ]);
    for (const { annotations } of tools(false).values())
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(fields(false, 'prove')).toEqual(['from', 'to', 'next', 'integration']);
    expect(fields(false, 'baseline')).toEqual(['integration']);
    expect(fields(false, 'status')).toEqual(['history', 'activity', 'partner', 'integration']);
  });

  it('of an assistant that may change are the others, too, each marked as such', () => {
    const marks = [...tools(true).values()].map(({ name, annotations }) => {
      const { readOnlyHint, destructiveHint } = annotations;
      return [name, readOnlyHint ? 'reads' : destructiveHint ? 'final' : 'changes'];
    });
    expect(Object.fromEntries(marks)).toEqual({
      ...{ status: 'reads', check: 'reads', explain: 'reads', events: 'reads', holds: 'reads' },
      ...{ prove: 'changes', baseline: 'changes', tick: 'changes', pause: 'changes' },
      ...{ resume: 'changes', release: 'final', discard: 'final', replay: 'final' },
      ...{ 'test-event': 'final', 'accept-total': 'final' },
    });
    expect(fields(true, 'prove')).toEqual(['from', 'to', 'now', 'next', 'confirm']);
    expect(fields(true, 'holds')).not.toContain('confirm');
  });

  it('have a description and a name for each field, and require what the command line requires', () => {
    const explain = tools(true).get('explain');
    expect(explain?.input.shape.id?.description).toBe('top-level id of the assessment');
    expect(explain?.input.safeParse({}).success).toBe(false);
    expect(tools(true).get('status')?.input.safeParse({}).success).toBe(true);
    expect(tools(true).get('prove')?.description).toMatch(/Changes something with `now`\./);
  });

  it.each(commands.filter(({ usage }) => usage in definitions).map((one) => [one.usage, one]))(
    'of %s changes something if its definition does',
    (usage, command) => {
      const defined: Readonly<Record<string, { changes?: unknown }>> = definitions;
      expect(command.changes !== undefined).toBe(defined[usage]?.changes !== undefined);
    },
  );
});

describe('an assistant that may only look', () => {
  beforeEach(() => connect());

  it.each([
    ['status', {}, ''],
    ['check', {}, ''],
    ['holds', { type: ['created'] }, '--type created'],
    ['baseline', {}, ''],
    ['explain', { id: 21 }, '21'],
  ])('gets the words and the data of the command line: %s', async (name, given, typed) => {
    const { text, structured } = await assistant.call(name, { ...given, ...one() });
    const args = `${name} ${typed} --integration ${duty.story.name}`;
    expect(`${text}\n`).toBe((await duty.run(args)).stdout);
    expect(structured).toEqual({ ok: true, result: (await duty.json(args)).result });
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
    duty.lambda.always(async () => denied);
    const refused = await assistant.call('explain', { id: 1, ...one() });
    expect(refused).toMatchObject({ isError: true, structured: { problem: { fault: 'ops' } } });
    expect(refused.text).toContain('AWS refuses lambda:InvokeFunction');
  });

  it('may send several calls at once, which are answered in turn', async () => {
    const names = ['check', 'baseline', 'holds'];
    const atOnce: number[] = [];
    let underWay = 0;
    duty.lambda.always(async ({ forward }) => {
      underWay += 1;
      atOnce.push(underWay);
      return forward().finally(() => {
        underWay -= 1;
      });
    });
    const asked = names.map((name) => assistant.call(name, { ...one() }));
    expect(await Promise.all(asked)).toMatchObject(names.map(() => ({ isError: false })));
    expect(atOnce).toEqual([1, 1, 1]);
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
      expect(preview.text).toMatch(shown);
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

describe('the server', () => {
  beforeEach(() => connect());

  it('ends at Ctrl-C, also within a call', async () => {
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
});
