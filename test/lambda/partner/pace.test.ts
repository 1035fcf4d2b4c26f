import { expect, it } from 'vitest';
import { noticed } from '../../../lambda/condition-table.ts';
import { json, rejection, rig } from './scripted-host.ts';

const busy = json(429, {});

it('the client sends the set number of requests within a minute, including the token, and waits for the next one', async () => {
  const { client, clock } = await rig({ requestsPerMinute: 3 });
  const deadline = clock.now().add({ minutes: 10 });
  for (const sleeps of [[], [], [60_000]]) {
    await client.list({}, { deadline });
    expect(clock.sleeps).toEqual(sleeps);
  }
});

it.each([
  ['list', ['token', 'list', 'list']],
  ['token', ['token', 'token']],
] as const)(
  'the client asks a host that gives no time once more, and then not in this minute: %s',
  async (kind, sent) => {
    const { client, clock, requests } = await rig({ answers: { [kind]: busy } });
    const deadline = clock.now().add({ seconds: 55 });
    expect(await rejection(client.list({}, { deadline }))).toMatchObject({ code: 'rate-limited' });
    const whatToDo = `Wait a minute, and try again. If it goes on: ${noticed['rate-limited'].toDo}`;
    const spent = await rejection(client.list({}, { deadline }));
    expect(spent).toMatchObject({ code: 'pace-spent', whatToDo });
    expect(requests).toEqual(sent);
  },
);

it.each([
  ['get', 'unavailable'],
  ['list', 'pace-spent'],
] as const)('a call that fails, and has no room to be repeated: %s, %s', async (kind, code) => {
  const { client, clock } = await rig({ requestsPerMinute: 3, answers: { [kind]: json(503, {}) } });
  const deadline = clock.now().add({ seconds: 30 });
  const call = kind === 'get' ? client.get(5, { deadline }) : client.list({}, { deadline });
  expect(await rejection(call)).toMatchObject({ code });
});
