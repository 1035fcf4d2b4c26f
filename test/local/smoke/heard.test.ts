import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { heardIn } from '../../../local/smoke/judging.ts';

it.each(['hello', '{"a":1}', '', undefined])('a message with the body %j is no event', (Body) => {
  expect(heardIn({ MessageId: 'm-1', Body })).toEqual({ messageId: 'm-1' });
});

it('a message with an event is judged by its subject, revision and time', async () => {
  const Body = await readFile('docs/events/examples/certification.created.json', 'utf8');
  const { id, subject, time, sequence } = JSON.parse(Body);
  expect(heardIn({ Body })).toMatchObject({
    id,
    type: 'created',
    about: Number(subject),
    revision: Number(sequence),
    at: Date.parse(time),
  });
});
