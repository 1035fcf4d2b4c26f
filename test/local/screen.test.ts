import { stripVTControlCharacters, styleText } from 'node:util';
import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import { certificationEvent } from '../../lambda/events/event.ts';
import { mailIn } from '../../local/mails-and-events.ts';
import { Screen } from '../../local/screen.ts';
import { assessment } from '../support/assessments.ts';

/** A filled screen. */
function shown(fill: (on: Screen) => void, isColoured = false): string {
  let text = '';
  const write = (line: string) => {
    text += `${line}\n`;
  };
  fill(new Screen({ timeOfDay: () => '12:00:00', write, isColoured }));
  return text;
}

const person = {
  id: 7,
  name: 'Imani Quillfeather',
  organization_name: 'Nowhere Unified',
  assessment_name: 'Classroom Basics',
  certified_on: '2026-11-20',
};
const event = (revision: number, fields: object = {}, late = false, changed: string[] = []) =>
  JSON.stringify(
    certificationEvent({
      integration: 'district-a',
      type: changed.length > 0 ? 'certification.updated' : 'certification.created',
      fields: 'all',
      assessment: assessment({ ...person, ...fields }),
      revision,
      changed,
      late,
      time: Temporal.Instant.from('2026-11-21T12:00:00Z'),
    }),
  );
const counts =
  'requests created recorded withdrawn restored held updated delivered undelivered quarantined';
const quiet = Object.fromEntries(
  counts.split(' ').map((name) => [name, name === 'requests' ? 1 : 0]),
);
const returned = (payload: Record<string, number | string>) =>
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
const poll = 'poll';
const output = (on: Screen, line: object | string, functionName = 'poll') =>
  on.output({
    functionName,
    stream: 'stdout',
    kind: 'log',
    text: typeof line === 'string' ? line : JSON.stringify(line),
  });

it('a run is shown line by line, and no text of others moves the cursor or forges a line', async () => {
  const problem = { name: 'X', message: 'No answer.', whatToDo: 'Wait.' };
  const report = { level: 'ERROR', message: 'tick failed', requests: 3, durationMs: 12.3, problem };
  const nameless = { name: null, organization_id: null, organization_name: null };
  const text = shown((on) => {
    on.tick(returned({ outcome: 'baseline', recorded: 400 }), poll);
    on.tick(returned({ created: 2, delivered: 2 }), poll, { integration: 'district-b' });
    const changes = { updated: 2, withdrawn: 3, restored: 1, held: 4 };
    on.tick(returned({ ...changes, undelivered: 2, quarantined: 1 }), poll);
    on.tick(returned({ outcome: 'disturbed' }), poll);
    // A failed tick has only the requests that its own function reports.
    output(on, { ...report, requests: 9 }, 'another');
    output(on, report);
    on.tick(failed, poll);
    on.tick(failed, poll, { isProvoked: true });
    for (const body of [
      event(1, {}, true),
      event(2, {}, false, ['email', 'name']),
      event(3, { ...nameless, assessment_name: null }),
      event(4, { name: 'Imani\u001b[2J\u0007\n12:00:00  tick 9' }),
      // It is marked and counted as a duplicate.
      event(1),
    ])
      on.event(body);
    for (const body of ['not json\u001B[2J', '{"x":1}']) {
      expect(on.event(body)).toBeUndefined();
      on.mail('digest', mailIn(body));
      on.mail('notice', mailIn(body));
    }
    on.mail('digest', { subject: '1 new certification', text: 'first\nsecond\n' });
    on.mail('notice', { subject: 'district-a: held', text: 'Look at it.\n' });
    // Routine is not shown.
    output(on, { level: 'INFO', message: 'tick', requests: 1 });
    on.output({ functionName: 'poll', stream: 'stdout', kind: 'metrics', text: '{"_aws":{}}' });
    output(on, { level: 'WARN', message: 'record quarantined', id: 7 });
    output(on, 'Error: from somewhere else');
    on.summary();
  });
  await expect(text).toMatchFileSnapshot('approved/screen.txt');
});

it('colours mark the person, and nothing of them is written without colours', () => {
  const [coloured = '', plain] = [true, false].map((isColoured) =>
    shown((on) => on.event(event(1)), isColoured),
  );
  expect(coloured).toContain(styleText('bold', person.name, { validateStream: false }));
  expect(stripVTControlCharacters(coloured)).toBe(plain);
});
