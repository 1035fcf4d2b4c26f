import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../scaffold/clock.ts';
import { Duty, raisedEach, raisedOnce } from './duty.ts';

const duty = new Duty();
const { stage } = duty;
beforeAll(() => duty.build({ integration: { holdAbove: 2 } }));
afterAll(() => duty.dismantle());

/**
 * Runs a command as on a terminal. Each call of the function takes ten seconds of its time.
 *
 * @param calls the number of calls before Ctrl-C
 * @returns the lines shown meanwhile, one for each second
 */
async function shown(args: string, calls = Number.POSITIVE_INFINITY): Promise<string[]> {
  const clock = new ManualClock();
  const program = duty.start(args, { isTTY: true, clock });
  const lines: string[] = [];
  duty.lambda.always(async ({ forward }) => {
    const reply = await forward();
    for (let second = 0; second < 10; second += 1) {
      const before = program.errors.text.length;
      clock.advance({ seconds: 1 });
      lines.push(program.errors.text.slice(before));
    }
    if (lines.length === calls * 10) program.interrupt();
    return reply;
  });
  await program.ended;
  return lines;
}

const last = (lines: readonly string[]) => lines.at(-1)?.split('\r\u001B[2K').at(-1) ?? '';

async function flood(): Promise<void> {
  for (let index = 0; index < 3; index += 1)
    stage.sandbox.world.add({ certified_on: '2019-05-06' });
  expect(await stage.completedTick()).toMatchObject({ held: 3 });
}

const waiting = /^[a-z-]+ {2}█+░+ {2}10 s, an answer within 45 s$/;

describe('on a terminal, a command of more than two seconds has a bar and an estimate:', () => {
  raisedOnce(duty, () => stage.completedTick());

  it.each([
    'status',
    'check',
    'explain 48001',
    'tick',
    'pause --reason maintenance',
    'resume',
    'test-event',
    'baseline',
    'accept-total 3 --yes',
    'prove --from 2026-10-01 --to 2026-10-31',
    'holds',
    'replay --all',
  ])('%s', async (args) => {
    const lines = await shown(args);
    expect(lines[0]).toBe('');
    expect(last(lines)).toMatch(waiting);
  });
});

describe('a bar shows the share done:', () => {
  raisedEach(duty, () => stage.completedTick());

  it.each(['release --yes', 'discard --yes'])('of %s, of the counted events', async (args) => {
    await flood();
    const lines = await shown(args);
    expect(last(lines)).toMatch(/ {2}░+ {3}0 % {2}0 of 3 events, an answer within 45 s$/);
  });

  it('of prove --now, of the days to read', async () => {
    const { world } = stage.sandbox;
    const days = [...world.assessments()].map(({ certified_on }) => certified_on).sort();
    const args = `prove --from ${days[0]} --to ${days.at(-1)} --now`;
    expect(last(await shown(args))).toMatch(/^prove {2}█+░+ {2}10 s, an answer within 45 s$/);
  });

  it("of baseline --follow, of the partner's certifications", async () => {
    await duty.run('baseline --restart --yes');
    const lines = await shown('baseline --follow', 2);
    expect(last(lines)).toMatch(/^baseline {2}░+ {3}0 % {2}0 of 30 certifications$/);
  });
});
