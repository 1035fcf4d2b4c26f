import { stripVTControlCharacters, styleText } from 'node:util';
import { expect, test } from 'vitest';
import { certificationEvent } from '../../lambda/events/event.ts';
import { mailIn } from '../../local/mails-and-events.ts';
import { Screen } from '../../local/screen.ts';

function screen() {
  const lines: string[] = [];
  return {
    lines,
    on: new Screen({
      timeOfDay: () => '12:00:00',
      write: (line) => lines.push(line),
    }),
  };
}

const eventFor = (name: string, late = false, changed: string[] = []) =>
  JSON.stringify(
    certificationEvent({
      integration: 'district-a',
      type: changed.length > 0 ? 'certification.updated' : 'certification.created',
      fields: 'all',
      assessment: {
        id: 7,
        seid: null,
        name,
        first_name: 'Imani',
        last_name: 'Quillfeather',
        email: 'imani.quillfeather@example.org',
        organization_id: 3,
        organization_name: 'Nowhere Unified',
        assessment_name: 'Classroom Basics',
        certified_on: '2026-11-20',
        results: [],
      },
      revision: 1,
      changed,
      late,
      time: '2026-11-21T12:00:00Z',
    }),
  );
const returned = (payload: Record<string, string | number>) =>
  ({ outcome: 'returned', requestId: 'r', coldStart: false, payload }) as const;
const quiet = {
  outcome: 'completed',
  requests: 1,
  created: 0,
  recorded: 0,
  withdrawn: 0,
  restored: 0,
  held: 0,
  updated: 0,
  delivered: 0,
  undelivered: 0,
  quarantined: 0,
  durationMs: 31.4,
};

const poll = { functionName: 'poll' };

test('an event of a nearly empty record shows the fields that it has', () => {
  const { lines, on } = screen();
  const { data, ...event } = JSON.parse(eventFor('Imani Quillfeather'));
  const nobody = { name: null, organization_id: null, organization_name: null };
  const assessment = { ...data.assessment, ...nobody, assessment_name: null };
  on.event(JSON.stringify({ ...event, data: { ...data, assessment } }));
  expect(lines[0]).toContain(
    'assessment 7 · an assessment without a name · organization not known · 2026-11-20',
  );
});

test.each([
  ['no JSON', 'not json\u001B[2J'],
  ['another object', '{"x":1}'],
])('a message that is %s is said, without its content and uncounted', (_what, body) => {
  const { lines, on } = screen();
  expect(on.event(body)).toBeUndefined();
  on.digest(mailIn(body));
  on.notice(mailIn(body));
  expect(lines).toEqual([
    '12:00:00  ignored    a message that is no event',
    '12:00:00  ignored    a message that is no digest',
    '12:00:00  ignored    a message that is no notice',
  ]);
  expect(on.tally).toMatchObject({ events: 0, digests: 0, notices: 0 });
});

test('a tick shows requests, new, delivered and duration', () => {
  const { lines, on } = screen();
  on.tick(returned({ ...quiet, created: 2, delivered: 2 }), poll);
  expect(lines).toEqual(['12:00:00  tick 1     1 request · 2 new · 2 delivered · 31 ms']);
});

test('a tick names its integration if there are several', () => {
  const { lines, on } = screen();
  on.tick(returned(quiet), { ...poll, integration: 'district-b' });
  expect(lines[0]).toContain('tick 1     district-b · 1 request · 0 new');
});

test("a failed tick is shown with its function's effort", () => {
  const { lines, on } = screen();
  const text = JSON.stringify({ level: 'ERROR', message: 'x', requests: 3, durationMs: 12 });
  on.output({ functionName: 'another', stream: 'stdout', kind: 'log', text });
  const failure = { errorType: 'X', errorMessage: 'No answer.', trace: [] };
  on.tick({ outcome: 'failed', requestId: 'r', coldStart: true, ...failure }, poll);
  expect(lines[1]).toBe('12:00:00  tick 1     failed · X: No answer.');
});

test('a tick shows the numbers of changed, withdrawn, restored and held, except zeros', () => {
  const { lines, on } = screen();
  const some = { updated: 2, withdrawn: 3, restored: 1, held: 4 };
  on.tick(returned({ ...quiet, ...some }), poll);
  expect(lines[0]).toContain('0 new · 2 changed · 3 withdrawn · 1 restored · 4 held · 0 delivered');
});

test('a tick shows problems only if there are any', () => {
  const { lines, on } = screen();
  on.tick(returned({ ...quiet, undelivered: 2, quarantined: 1 }), poll);
  expect(lines[0]).toContain('2 undelivered · 1 quarantined');
});

test('a failed tick shows its error and is counted', () => {
  const { lines, on } = screen();
  const failure = { errorType: 'UnavailableError', errorMessage: 'No answer.', trace: [] };
  on.tick({ outcome: 'failed', requestId: 'r', coldStart: true, ...failure }, poll);
  on.summary();
  expect(lines[0]).toBe('12:00:00  tick 1     failed · UnavailableError: No answer.');
  expect(lines.at(-1)).toContain('1 tick (1 failed)');
});

test('a failed tick shows and counts the requests that the function reports', () => {
  const { lines, on } = screen();
  const text = JSON.stringify({
    level: 'ERROR',
    message: 'tick failed',
    requests: 3,
    durationMs: 12.3,
    problem: { name: 'X', message: 'No answer.' },
  });
  on.output({ functionName: 'poll', stream: 'stdout', kind: 'log', text });
  const failure = { errorType: 'X', errorMessage: 'No answer.', trace: [] };
  on.tick({ outcome: 'failed', requestId: 'r', coldStart: true, ...failure }, poll);
  on.tick({ outcome: 'failed', requestId: 'r', coldStart: true, ...failure }, poll);
  on.summary();
  expect(lines.slice(0, 3)).toEqual([
    '12:00:00  error      tick failed · No answer.',
    '12:00:00  tick 1     3 requests · failed · X: No answer. · 12 ms',
    '12:00:00  tick 2     failed · X: No answer.',
  ]);
  expect(lines.at(-1)).toContain('2 ticks (2 failed) · 3 requests');
});

test('a tick that fails by a provocation is counted separately', () => {
  const { lines, on } = screen();
  const failure = { errorType: 'Runtime.ExitError', errorMessage: 'Killed.', trace: [] };
  const failed = { outcome: 'failed', requestId: 'r', coldStart: true, ...failure } as const;
  on.tick(failed, { ...poll, isProvoked: true });
  on.summary();
  expect(lines[0]).toContain('provoked · failed · Runtime.ExitError: Killed.');
  expect(lines.at(-1)).toContain('1 tick (1 failed as provoked)');
  expect(on.tally).toMatchObject({ failedTicks: 0, provokedTicks: 1 });
});

test('an error comes with its advice', () => {
  const { lines, on } = screen();
  const problem = { name: 'X', code: 'x', message: 'Refused.', whatToDo: 'Look at AWS.' };
  const text = JSON.stringify({ level: 'ERROR', message: 'tick failed', problem });
  on.output({ functionName: 'poll', stream: 'stdout', kind: 'log', text });
  expect(lines.at(-1)?.trim()).toBe('→ Look at AWS.');
});

test('an event shows the person, the assessment, the organization, the day and that it is late', () => {
  const { lines, on } = screen();
  on.event(eventFor('Imani Quillfeather', true));
  expect(lines).toEqual([
    '12:00:00  created    Imani Quillfeather · Classroom Basics · Nowhere Unified · 2026-11-20 · late · district-a/7/1',
  ]);
});

test('an event shows the changed fields', () => {
  const { lines, on } = screen();
  on.event(eventFor('Imani Quillfeather', false, ['email', 'name']));
  expect(lines[0]).toMatch(/^12:00:00 {2}updated .* · 2026-11-20 · changed: email, name · /);
});

test('colours mark the person, and nothing of them is written without colours', () => {
  const lines: string[] = [];
  const shown = (isColoured: boolean) => {
    const write = (line: string) => lines.push(line);
    new Screen({ timeOfDay: () => '12:00:00', write, isColoured }).event(eventFor('Imani'));
    return lines.pop() ?? '';
  };
  expect(shown(true)).toContain(styleText('bold', 'Imani', { validateStream: false }));
  expect(stripVTControlCharacters(shown(true))).toBe(shown(false));
});

test('a repeated event is marked and counted as a duplicate', () => {
  const { lines, on } = screen();
  on.event(eventFor('Imani Quillfeather'));
  on.event(eventFor('Imani Quillfeather'));
  expect(lines[1]).toContain('told before');
  expect(on.tally).toMatchObject({ events: 2, duplicates: 1 });
});

test("a name cannot move the terminal's cursor or forge a line", () => {
  const { lines, on } = screen();
  on.event(eventFor('Imani\u001b[2J\u0007\n12:00:00  tick 9'));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('Imani 12:00:00  tick 9');
});

test('a digest shows its subject and its body, line by line', () => {
  const { lines, on } = screen();
  on.digest({ subject: '1 new certification', text: 'first\nsecond\n' });
  expect(lines.map((line) => line.trim())).toEqual([
    '12:00:00  digest     1 new certification',
    '│ first',
    '│ second',
  ]);
});

test('a notice to ops shows its subject and its body', () => {
  const { lines, on } = screen();
  on.notice({ subject: 'district-a: held', text: 'Look at it.\n' });
  on.summary();
  expect(lines.map((line) => line.trim()).slice(0, 2)).toEqual([
    '12:00:00  notice     district-a: held',
    '│ Look at it.',
  ]);
  expect(lines.at(-1)).toContain('1 notice');
});

test("the function's output shows warnings and errors with the next step, and no routine", () => {
  const { lines, on } = screen();
  const output = (text: string, kind: 'log' | 'metrics' = 'log') =>
    on.output({ functionName: 'poll', stream: 'stdout', kind, text });
  output(JSON.stringify({ level: 'INFO', message: 'tick', requests: 1 }));
  output(JSON.stringify({ _aws: {} }), 'metrics');
  output(JSON.stringify({ level: 'WARN', message: 'record quarantined', id: 7 }));
  output(
    JSON.stringify({
      level: 'ERROR',
      message: 'tick failed',
      problem: { name: 'X', message: 'No answer.', whatToDo: 'Wait.' },
    }),
  );
  output('Error: from somewhere else');
  expect(lines.map((line) => line.trim())).toEqual([
    '12:00:00  warn       record quarantined · id 7',
    '12:00:00  error      tick failed · No answer.',
    '→ Wait.',
    'Error: from somewhere else',
  ]);
});
