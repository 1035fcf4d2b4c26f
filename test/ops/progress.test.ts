import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { commands } from '../../ops/commands/index.ts';
import { InterruptedError } from '../../ops/errors.ts';
import { Session } from '../../ops/session.ts';
import { Terminal } from '../../ops/terminal.ts';
import { Duty } from './duty.ts';

const duty = new Duty();
const { stage } = duty;
beforeAll(() => duty.build({ integration: { holdAbove: 2 } }));
afterAll(() => duty.dismantle());
beforeEach(async () => {
  await duty.raise();
  await stage.completedTick();
});
afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  await duty.strike();
});

/**
 * Runs a command as on a terminal, each call of the function taking ten seconds of its time.
 *
 * @param calls after which somebody presses Ctrl-C
 * @returns what was shown while it was waited for, a line for each second
 */
async function shown(
  usage: string,
  input: Record<string, unknown>,
  calls = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const stream = () => Object.assign(new PassThrough(), { isTTY: true, columns: 200 });
  const [output, errors] = [stream(), stream()];
  const terminal = new Terminal({ input: stream(), output, errors });
  for (const [name, value] of Object.entries(duty.environment)) vi.stubEnv(name, value);
  const stopping = new AbortController();
  const options = { stack: duty.stack, local: false, json: false };
  const session = new Session(terminal, options, stopping.signal);
  const lines: string[] = [];
  duty.lambda.always(async ({ forward }) => {
    const reply = await forward();
    for (let second = 0; second < 10; second += 1) {
      vi.advanceTimersByTime(1_000);
      lines.push(String(errors.read() ?? ''));
    }
    if (lines.length === calls * 10) stopping.abort(new InterruptedError());
    return reply;
  });
  const command = commands.find((one) => one.usage === usage);
  const ended = command?.run(session, input);
  await ended?.catch((error) => expect(error).toBe(stopping.signal.reason));
  return lines;
}

const last = (lines: readonly string[]) => lines.at(-1)?.split('\r\u001B[2K').at(-1) ?? '';

async function flood(): Promise<void> {
  for (let index = 0; index < 3; index += 1)
    stage.sandbox.world.add({ certified_on: '2019-05-06' });
  expect(await stage.completedTick()).toMatchObject({ held: 3 });
}

describe('on a terminal, what takes more than two seconds has a bar and an estimate:', () => {
  it.each([
    ['status', { history: false, partner: true }],
    ['check', {}],
    ['explain', { id: 48_001, partner: true }],
    ['tick', {}],
    ['pause', { reason: 'maintenance' }],
    ['resume', {}],
    ['test-event', { late: false }],
    ['baseline', {}],
    ['accept-total', { total: 3, yes: true }],
    ['prove', { from: '2026-10-01', to: '2026-10-31' }],
    ['holds', {}],
    ['replay', { all: true }],
  ])('%s', async (usage, input) => {
    const lines = await shown(usage, input);
    expect(lines[0]).toBe('');
    expect(last(lines)).toMatch(/^[a-z-]+ {2}█+░+ {2}10 s, an answer within 45 s$/);
  });

  it.each([
    ['release', { yes: true }],
    ['discard', { yes: true }],
  ])('%s, of the events that were counted', async (usage, input) => {
    await flood();
    const lines = await shown(usage, input);
    expect(last(lines)).toMatch(/ {2}░+ {3}0 % {2}0 of 3 events, an answer within 45 s$/);
  });

  it('prove --now, of the days to read', async () => {
    const { world } = stage.sandbox;
    const days = [...world.assessments()].map(({ certified_on }) => certified_on).sort();
    const input = { from: days[0], to: days.at(-1), now: true };
    expect(last(await shown('prove', input))).toMatch(
      /^prove {2}█+░+ {2}10 s, an answer within 45 s$/,
    );
  });

  it('baseline --follow, of the certifications that the partner has', async () => {
    await duty.run('baseline --restart --yes');
    const lines = await shown('baseline', { follow: true }, 2);
    expect(last(lines)).toMatch(/^baseline {2}░+ {3}0 % {2}0 of 30 certifications$/);
  });
});
