import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { heardIn } from '../../../local/smoke/demo-queue.ts';

it.each(['hello', '{"a":1}', '', undefined])('a message with the body %j is no event', (body) => {
  expect(heardIn('m-1', body)).toEqual({ messageId: 'm-1' });
});

it('a message with an event is judged by its subject, revision and time', async () => {
  const body = await readFile('docs/events/examples/certification.created.json', 'utf8');
  const { id, subject, time, sequence } = JSON.parse(body);
  expect(heardIn('m-1', body)).toMatchObject({
    id,
    type: 'created',
    about: Number(subject),
    revision: Number(sequence),
    at: Date.parse(time),
  });
});
