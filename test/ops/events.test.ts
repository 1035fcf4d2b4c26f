import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import type { contract } from '../../lambda/operations/contract.ts';
import { Duty } from './duty.ts';

// The function answers in pages.
const duty = new Duty();
beforeAll(async () => {
  await duty.build();
  await duty.raise();
  await duty.stage.completedTick();
});
afterEach(() => duty.lambda.reset());
afterAll(async () => {
  await duty.strike();
  await duty.dismantle();
});

const asked = z.looseObject({
  command: z.literal('events'),
  limit: z.int(),
  after: z.string().optional(),
});
type Listed = z.output<typeof contract.events.result>['events'][number];

function listed(id: number): Listed {
  return {
    ...{ id, revision: 1, event: `district-a/${id}/1`, type: 'created', changed: [] },
    ...{ at: '2026-11-21T08:00:00Z', delivery: 'announced', late: false, day: '2026-11-20' },
    ...{ presence: 'present', organization_id: 7, assessment_name: 'Rope Bridge Safety' },
  };
}

const cursor = (id: number) => `2026-11-21T08:00:00.000Z/${id}/1`;

/** Answers with so many of the events at most, and notes the requests. */
function inPages(events: readonly Listed[], atOnce: number) {
  const commands: z.output<typeof asked>[] = [];
  duty.lambda.always(async (call) => {
    if (call.operation !== duty.invocation) return undefined;
    const command = asked.parse(JSON.parse(call.body));
    commands.push(command);
    const start = Number(command.after?.split('/')[1] ?? 0);
    const end = Math.min(events.length, start + Math.min(command.limit, atOnce));
    const next = end < events.length ? { next: { ...command, after: cursor(end) } } : {};
    const result = { events: events.slice(start, end), unreadable: 1, ...next };
    return { status: 200, type: 'application/json', body: JSON.stringify({ ok: true, result }) };
  });
  return commands;
}

const many = Array.from({ length: 25 }, (_, index) => listed(index + 1));

it('continues until it has the requested number, and requests no more', async () => {
  const commands = inPages(many, 4);
  const { result } = await duty.json('events --limit 10');
  expect(result).toMatchObject({
    events: many.slice(0, 10),
    unreadable: 3,
    next: { after: cursor(10) },
  });
  expect(commands.map(({ limit }) => limit)).toEqual([10, 6, 2]);
});

it('continues to the end with --all, and for a spreadsheet', async () => {
  inPages(many, 10);
  const { result } = await duty.json('events --all');
  expect(result).toEqual({ events: many, unreadable: 3 });
  expect((await duty.run('events --csv')).stdout.trim().split('\n')).toHaveLength(1 + 25);
  expect((await duty.run('events --csv --limit 3')).stdout.trim().split('\n')).toHaveLength(1 + 3);
});

it('says that there are older events, and counts unreadable certifications', async () => {
  inPages(many, 200);
  expect((await duty.run('events --limit 3')).stdout).toMatch(
    /\n\n3 events, and there are older ones: --all, or a larger --limit\n1 certification cannot be read\.\n$/,
  );
  expect((await duty.run('events')).stdout).toMatch(/\n\n25 events\n1 certification/);
});

it('fits into 120 columns, and passes no name to a terminal or a spreadsheet as a command', async () => {
  const names = [
    `=HYPERLINK("http://example.org","x")`,
    `${'Long '.repeat(40)}`,
    'a, "b"\u001B[31m\nc',
  ];
  const events = names.map((assessment_name, index) => ({
    ...listed(10 ** 9 + index),
    ...{ assessment_name, late: true, delivery: 'announced-to-people' as const },
  }));
  inPages([...events, { ...listed(1), organization_id: null, assessment_name: null }], 200);
  const { stdout } = await duty.run('events');
  const lines = stdout.split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(120);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it must not be there
  expect(stdout).not.toMatch(/\u001B/);
  expect(lines).toHaveLength(1 + 4 + 3 + 1);
  const csv = (await duty.run('events --csv')).stdout.trim().split('\n');
  expect(csv.map((line) => line.split(',').slice(11).join(','))).toEqual([
    'assessment_name',
    `"'=HYPERLINK(""http://example.org"",""x"")"`,
    'Long '.repeat(40),
    '"a, ""b"" c"',
    '',
  ]);
});
