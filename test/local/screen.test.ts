import { stripVTControlCharacters, styleText } from 'node:util';
import { expect, it } from 'vitest';
import { certificationEvent } from '../../lambda/events/event.ts';
import { mailIn } from '../../local/mails-and-events.ts';
import { Screen } from '../../local/screen.ts';
import { assessment } from '../support/assessments.ts';

/** The lines of a screen, without the time of day and without indents. */
function shown(fill: (on: Screen) => unknown): readonly string[] {
  const lines: string[] = [];
  const write = (line: string) => lines.push(line.replace('12:00:00', '').trim());
  fill(new Screen({ timeOfDay: () => '12:00:00', write }));
  return lines;
}

const person = {
  id: 7,
  name: 'Imani Quillfeather',
  organization_name: 'Nowhere Unified',
  assessment_name: 'Classroom Basics',
  certified_on: '2026-11-20',
};
const event = (fields: object = {}, { late = false, changed = [] as string[] } = {}) =>
  JSON.stringify(
    certificationEvent({
      integration: 'district-a',
      type: changed.length > 0 ? 'certification.updated' : 'certification.created',
      fields: 'all',
      assessment: assessment({ ...person, ...fields }),
      revision: 1,
      changed,
      late,
      time: '2026-11-21T12:00:00Z',
    }),
  );
const counts =
  'requests created recorded withdrawn restored held updated delivered undelivered quarantined';
const quiet = Object.fromEntries(
  counts.split(' ').map((name) => [name, name === 'requests' ? 1 : 0]),
);
const returned = (payload: Record<string, number>) =>
  ({
    outcome: 'returned',
    requestId: 'r',
    coldStart: false,
    payload: { outcome: 'completed', ...quiet, durationMs: 31.4, ...payload },
  }) as const;
const failed = {
  outcome: 'failed',
  requestId: 'r',
  coldStart: true,
  errorType: 'X',
  errorMessage: 'No answer.',
  trace: [],
} as const;
const poll = { functionName: 'poll' };
const output = (on: Screen, line: object | string, functionName = 'poll') =>
  on.output({
    functionName,
    stream: 'stdout',
    kind: 'log',
    text: typeof line === 'string' ? line : JSON.stringify(line),
  });

it.each([
  [{ created: 2, delivered: 2 }, poll, '1 request · 2 new · 2 delivered · 31 ms'],
  [
    {},
    { ...poll, integration: 'district-b' },
    'district-b · 1 request · 0 new · 0 delivered · 31 ms',
  ],
  [
    { updated: 2, withdrawn: 3, restored: 1, held: 4, undelivered: 2, quarantined: 1 },
    poll,
    '1 request · 0 new · 2 changed · 3 withdrawn · 1 restored · 4 held · 0 delivered · 2 undelivered · 1 quarantined · 31 ms',
  ],
])('a tick of %j shows only the counts that it has', (payload, by, line) => {
  expect(shown((on) => on.tick(returned(payload), by))).toEqual([`tick 1     ${line}`]);
});

it('a failed tick shows its error, its advice and the requests that its own function reports, and is counted', () => {
  const problem = { name: 'X', message: 'No answer.', whatToDo: 'Wait.' };
  const report = { level: 'ERROR', message: 'tick failed', requests: 3, durationMs: 12.3, problem };
  const lines = shown((on) => {
    output(on, { ...report, requests: 9 }, 'another');
    output(on, report);
    on.tick(failed, poll);
    on.tick(failed, { ...poll, isProvoked: true });
    on.summary();
  });
  expect(lines.slice(2)).toEqual([
    'error      tick failed · No answer.',
    '→ Wait.',
    'tick 1     3 requests · failed · X: No answer. · 12 ms',
    'tick 2     provoked · failed · X: No answer.',
    '',
    expect.stringMatching(/^2 ticks \(1 failed, 1 failed as provoked\) · 3 requests/),
  ]);
});

it.each([
  [
    'an event',
    event({}, { late: true }),
    'created    Imani Quillfeather · Classroom Basics · Nowhere Unified · 2026-11-20 · late · district-a/7/1',
  ],
  [
    'changed fields',
    event({}, { changed: ['email', 'name'] }),
    'updated    Imani Quillfeather · Classroom Basics · Nowhere Unified · 2026-11-20 · changed: email, name · district-a/7/1',
  ],
  [
    'a nearly empty record',
    event({ name: null, organization_id: null, organization_name: null, assessment_name: null }),
    'created    assessment 7 · an assessment without a name · organization not known · 2026-11-20 · district-a/7/1',
  ],
  [
    "a name that moves the terminal's cursor and forges a line",
    event({ name: 'Imani\u001b[2J\u0007\n12:00:00  tick 9' }),
    'created    Imani 12:00:00  tick 9 · Classroom Basics · Nowhere Unified · 2026-11-20 · district-a/7/1',
  ],
])('an event is one line: %s', (_, body, line) => {
  expect(shown((on) => on.event(body))).toEqual([line]);
});

it('a repeated event is marked and counted as a duplicate', () => {
  const lines = shown((on) => {
    on.event(event());
    on.event(event());
    expect(on.tally).toMatchObject({ events: 2, duplicates: 1 });
  });
  expect(lines[1]).toContain('told before');
});

it.each(['not json\u001B[2J', '{"x":1}'])(
  'the body %j is said, without its content and uncounted',
  (body) => {
    const lines = shown((on) => {
      expect(on.event(body)).toBeUndefined();
      on.digest(mailIn(body));
      on.notice(mailIn(body));
      expect(on.tally).toMatchObject({ events: 0, digests: 0, notices: 0 });
    });
    expect(lines).toEqual(
      ['event', 'digest', 'notice'].map((kind) =>
        expect.stringMatching(`^ignored    a message that is no ${kind}$`),
      ),
    );
  },
);

it('digests and notices show their subject and their body, line by line', () => {
  const lines = shown((on) => {
    on.digest({ subject: '1 new certification', text: 'first\nsecond\n' });
    on.notice({ subject: 'district-a: held', text: 'Look at it.\n' });
  });
  expect(lines).toEqual([
    'digest     1 new certification',
    '│ first',
    '│ second',
    'notice     district-a: held',
    '│ Look at it.',
  ]);
});

it("the function's output shows warnings and errors, and no routine", () => {
  const lines = shown((on) => {
    output(on, { level: 'INFO', message: 'tick', requests: 1 });
    on.output({ functionName: 'poll', stream: 'stdout', kind: 'metrics', text: '{"_aws":{}}' });
    output(on, { level: 'WARN', message: 'record quarantined', id: 7 });
    output(on, 'Error: from somewhere else');
  });
  expect(lines).toEqual(['warn       record quarantined · id 7', 'Error: from somewhere else']);
});

it('colours mark the person, and nothing of them is written without colours', () => {
  const [coloured = '', plain = ''] = [true, false].map((isColoured) => {
    let written = '';
    const write = (line: string) => {
      written = line;
    };
    new Screen({ timeOfDay: () => '12:00:00', write, isColoured }).event(event());
    return written;
  });
  expect(coloured).toContain(styleText('bold', person.name, { validateStream: false }));
  expect(stripVTControlCharacters(coloured)).toBe(plain);
});
