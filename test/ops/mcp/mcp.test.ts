import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { definitions } from '../../../lambda/operations/contract.ts';
import { commands } from '../../../ops/commands/index.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { queues } from '../../scaffold/deployment.ts';
import { Duty, denied, masked, raisedEach, raisedOnce } from '../duty.ts';
import { Assistant, told } from './assistant.ts';

const duty = new Duty();
const { stage } = duty;
beforeAll(() => duty.build({ integration: { holdAbove: 2 }, others: ['district-b'] }));
afterAll(() => duty.dismantle());

let assistant: Assistant;
const connect = async (options?: string) => {
  assistant = await new Assistant(duty, options).connect();
};
afterEach(async () => {
  await assistant.end();
});

/** More certifications at once than the limit. */
async function flood(): Promise<number[]> {
  await stage.completedTick();
  const ids = [1, 2, 3].map(
    () =>
      stage.sandbox.world.add({ organization_id: stage.filtered, certified_on: '2019-05-06' }).id,
  );
  expect(await stage.completedTick()).toMatchObject({ held: 3 });
  return ids;
}

const integration = 'district-a';
const looking = ['status', 'check', 'explain', 'prove', 'holds', 'baseline'];

describe('an assistant without permission to change', () => {
  let held: number[];
  raisedOnce(duty, async () => {
    held = await flood();
  });

  it('has the read-only commands, each marked as such, and no other', async () => {
    await connect();
    const { tools } = await assistant.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(looking));
    for (const { name, annotations, inputSchema } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
      expect(inputSchema.properties).not.toHaveProperty('confirm');
      const command = commands.find(({ usage }) => usage === name);
      for (const option of command?.changes?.with ?? [])
        expect(inputSchema.properties).not.toHaveProperty(option);
    }
    // These change data only with --now and --note.
    for (const [name, { changes }] of Object.entries(definitions))
      if (changes !== undefined && name !== 'prove' && name !== 'check')
        expect(tools.map((tool) => tool.name)).not.toContain(name);
  });

  it('hears whether anything is wrong, in the words and with the data of the command line', async () => {
    await connect();
    const { text, structured } = await assistant.call('status', { integration });
    const printed = await duty.run(`status --integration ${integration}`);
    expect(`${masked(text)}\n`).toBe(masked(printed.stdout));
    expect(text).toContain('3 held');
    const { result } = await duty.json(`status --integration ${integration}`);
    expect(structured).toMatchObject({ ok: true, result: [{ reasons: ['held'] }] });
    expect(Object.keys(Object(structured.result)[0])).toEqual(Object.keys(Object(result)[0]));
    const checked = await assistant.call('check', { integration });
    expect(checked.structured).toMatchObject({ result: [{ integration }] });
    expect(checked.text).toContain('single-record');
  });

  it('hears why a certification was not announced', async () => {
    await connect();
    const unknown = await assistant.call('explain', { id: 48_213, integration });
    expect(unknown).toMatchObject({
      isError: false,
      structured: { ok: true, result: { verdict: 'not-at-partner' } },
    });
    const { stdout } = await duty.run(`explain 48213 --integration ${integration}`);
    expect(`${masked(unknown.text)}\n`).toBe(masked(stdout));
    const waiting = await assistant.call('explain', { id: held[0], integration });
    expect(waiting.structured).toMatchObject({ result: { verdict: 'held' } });
    expect(waiting.text).toContain('release');
  });

  it('gets certificates, held events and the progress of the baseline', async () => {
    await connect();
    const days = { from: '2019-05-06', to: '2019-05-06', integration };
    expect((await assistant.call('prove', days)).structured).toMatchObject({
      result: { days: [{ day: '2019-05-06', count: 3 }] },
    });
    expect((await assistant.call('holds', { integration, type: ['created'] })).text).toContain(
      '3 created',
    );
    expect((await assistant.call('baseline', { integration })).text).toContain('completed');
  });

  it('is told if an answer is larger than it can take', async () => {
    await connect();
    const years = { from: '1997-01-01', to: '2026-11-20', integration };
    const { text, structured } = await assistant.call('prove', years);
    expect(text).toContain('1997-01-01 to ');
    expect(JSON.stringify(structured).length).toBeLessThan(1_000);
    expect(structured).toEqual({
      ok: true,
      leftOut: expect.stringMatching(/^The result has [\d,]{7,} characters\. Ask for less, /),
    });
  });

  it('is refused each change, also one in a continued command', async () => {
    await connect();
    const now = { command: 'prove', from: '2019-05-06', to: '2019-05-06', now: true };
    expect(await assistant.call('prove', { next: now, integration })).toMatchObject({
      isError: true,
      structured: { ok: false, problem: { code: 'changes-not-allowed' } },
      text: expect.stringContaining('--allow-changes'),
    });
    await expect(assistant.call('release', { integration, confirm: true })).rejects.toThrow(
      /release/,
    );
    for (const [name, more] of [
      ['prove', { now: true }],
      ['baseline', { restart: true }],
      ['check', { note: true }],
    ] as const)
      expect(
        await assistant.client.callTool({ name, arguments: { ...more, integration } }),
      ).toMatchObject({ isError: true });
    expect(await duty.json(`status --history --integration ${integration}`)).toMatchObject({
      result: [{ history: [] }],
    });
  });

  it('gets the mistake and the next step', async () => {
    await connect();
    const several = await assistant.call('holds');
    expect(several).toMatchObject({ isError: true, structured: { problem: { code: 'usage' } } });
    expect(several.text).toContain('one of district-a, district-b');
    const nowhere = await assistant.call('explain', { id: 1, integration: 'district-c' });
    expect(nowhere.text).toContain('It watches district-a, district-b.');
    const wrong = await assistant.client.callTool({
      name: 'prove',
      arguments: { from: 'yesterday', to: '2019-05-06', integration },
    });
    expect(wrong).toMatchObject({ isError: true });
    duty.lambda.always(async () => denied);
    const refused = await assistant.call('explain', { id: 1, integration });
    expect(refused).toMatchObject({ isError: true, structured: { problem: { fault: 'ops' } } });
    expect(refused.text).toContain('AWS refuses lambda:InvokeFunction');
  });

  it('gets no parameter for the integration if the server is for one', async () => {
    await connect(` --integration ${integration}`);
    const { tools } = await assistant.client.listTools();
    for (const { inputSchema } of tools)
      expect(inputSchema.properties ?? {}).not.toHaveProperty('integration');
    expect((await assistant.call('holds')).structured).toMatchObject({ result: { events: 3 } });
  });

  it('may send several calls at once, which are answered in turn', async () => {
    await connect();
    const all = await Promise.all(
      looking
        .slice(0, 3)
        .map((name) => assistant.call(name, { integration, ...(name === 'explain' && { id: 1 }) })),
    );
    expect(all.map(({ isError }) => isError)).toEqual([false, false, false]);
  });
});

describe('an assistant with permission to change, before a confirmation,', () => {
  raisedOnce(duty, flood);
  beforeEach(() => connect(' --allow-changes'));

  it('has the commands that change data, each marked as such', async () => {
    const { tools } = await assistant.client.listTools();
    const hints = new Map(tools.map(({ name, annotations }) => [name, annotations]));
    expect(hints.get('status')).toMatchObject({ readOnlyHint: true });
    expect(hints.get('pause')).toMatchObject({ readOnlyHint: false, destructiveHint: false });
    expect(hints.get('prove')).toMatchObject({ readOnlyHint: false, destructiveHint: false });
    for (const name of ['release', 'discard', 'replay', 'test-event', 'accept-total'])
      expect(hints.get(name)).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(tools.map(({ name }) => name)).not.toContain('credentials-set');
    for (const { name, inputSchema } of tools)
      if (hints.get(name)?.readOnlyHint === false)
        expect(inputSchema.properties).toHaveProperty('confirm');
  });

  it.each([
    ['pause', { reason: 'maintenance' }, /^pause: Stops an integration.*"reason":"maintenance"/],
    ['resume', {}, /^resume: Lets the ticks/],
    ['tick', {}, /^tick: Runs a tick now/],
    ['test-event', {}, /^test-event: Sends an event about nobody/],
    ['discard', {}, /Tell nobody, ever, of 3 events\?/],
    ['accept-total', { total: 0 }, /come from a broken host(.|\n)*Take 0 as the right total/],
    ['baseline', { restart: true }, /Read everything of district-a anew\?/],
    ['prove', { from: '2019-05-06', to: '2019-05-06', now: true }, /^prove: .*"now":true/],
    ['replay', { all: true, baseline: true }, /would be sent/],
  ])('is shown the effects of %s, which is not carried out', async (name, given, expected) => {
    const preview = await assistant.call(name, { ...given, integration });
    expect(preview).toMatchObject({ isError: false, structured: { confirmed: false } });
    expect(preview.text).toMatch(expected);
    expect(preview.text).toContain('Nothing was changed.');
    expect(await duty.json(`status --history --integration ${integration}`)).toMatchObject({
      result: [{ history: [] }],
    });
    expect(await stage.events(queues.everything)).toEqual([]);
  });

  it('gets progress on request', async () => {
    await assistant.end();
    const clock = new ManualClock();
    assistant = await new Assistant(duty, '', clock).connect();
    duty.lambda.always(async ({ forward }) => {
      const reply = await forward();
      for (let second = 0; second < 10; second += 1) clock.advance({ seconds: 1 });
      return reply;
    });
    const lines: string[] = [];
    const onprogress = ({ message = '' }) => void lines.push(message);
    const call = { name: 'holds', arguments: { integration } };
    await assistant.client.callTool(call, { onprogress });
    expect(lines.at(-1)).toMatch(/^holds .* 10 s, an answer within 45 s$/);
    expect(new Set(lines).size).toBe(lines.length);
  });
});

describe('an assistant with permission to change', () => {
  raisedEach(duty, flood);
  beforeEach(() => connect(' --allow-changes'));

  it('sees the preview of the command line; a confirmed command is carried out, and on record with its caller', async () => {
    duty.clock.hold();
    const preview = await assistant.call('release', { integration });
    expect(preview).toMatchObject({
      isError: false,
      structured: { ok: true, confirmed: false, question: 'Release 3 events?' },
    });
    const asked = duty.start(`release --integration ${integration}`, { isTTY: true });
    await asked.shows(/Release 3 events\? \[y\/N\] $/);
    const shown = stripVTControlCharacters(asked.errors.text).replace(' [y/N] ', '');
    // There is nothing to see where the terminal wraps its question.
    expect(preview.text.replaceAll('\n', '')).toContain(shown.replaceAll('\n', ''));
    asked.interrupt();
    await asked.ended;
    expect(await duty.json(`holds --integration ${integration}`)).toMatchObject({
      result: { events: 3 },
    });

    const done = await assistant.call('release', { integration, confirm: true });
    expect(done).toMatchObject({ isError: false, structured: { ok: true, result: { events: 3 } } });
    expect(done.text).toContain('3 events released: 3 created');
    await stage.completedTick();
    expect(await stage.events(queues.everything)).toHaveLength(3);
    const history = await duty.run(`status --history --integration ${integration}`);
    expect(history.stdout).toMatch(/release +done +arn:aws:iam::000000000000:root +waiting=held/);
  });

  it.each([
    ['pause', { reason: 'maintenance' }],
    ['discard', {}],
    ['baseline', { restart: true }],
    ['test-event', {}],
    ['replay', { all: true, baseline: true }],
    ['tick', {}],
  ])('has %s carried out by confirming it', async (name, given) => {
    const done = await assistant.call(name, { ...given, integration, confirm: true });
    expect(done).toMatchObject({ isError: false, structured: { ok: true } });
    const { stdout } = await duty.run(`status --history --integration ${integration}`);
    const recorded = name === 'baseline' ? 'restart-baseline' : name;
    expect(stdout).toMatch(new RegExp(`${recorded} +done +arn:aws:iam::000000000000:root`));
  });
});

describe('the server', () => {
  raisedEach(duty, () => stage.completedTick());

  it('ends with its input, and has written only the protocol', async () => {
    await connect();
    await assistant.call('status');
    await assistant.call('explain', { id: 1 });
    const { exitCode, stdout, stderr } = await assistant.end();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    for (const line of stdout.trimEnd().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  });

  it('ends at Ctrl-C, also within a call', async () => {
    await connect();
    duty.lambda.always(async () => {
      assistant.program.interrupt();
      await assistant.program.ended;
      return undefined;
    });
    const call = assistant.call('explain', { id: 1, integration }).catch(() => 'not answered');
    expect(await assistant.program.ended).toMatchObject({ exitCode: 0, stderr: '' });
    await assistant.client.close();
    await call;
  });

  it("is a process that the SDK's client can start, ask and end", async () => {
    await connect();
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [
        fileURLToPath(new URL('../../../ops/cli.ts', import.meta.url)),
        'mcp',
        '--stack',
        duty.stack,
      ],
      env: duty.environment,
      stderr: 'pipe',
    });
    const client = new Client({ name: 'assistant', version: '1.0.0' });
    await client.connect(transport);
    expect(client.getServerVersion()).toMatchObject({ name: 'certification-notifier' });
    const { text } = told(await client.callTool({ name: 'holds', arguments: { integration } }));
    expect(text).toBe('Nothing is held.');
    await client.close();
  });
});

it('each command says whether it changes data, as its definition does', () => {
  const defined: Readonly<Record<string, { changes?: unknown } | undefined>> = definitions;
  for (const { usage, changes } of commands) {
    const definition = defined[usage];
    if (definition !== undefined)
      expect([usage, changes !== undefined]).toEqual([usage, definition.changes !== undefined]);
  }
});
