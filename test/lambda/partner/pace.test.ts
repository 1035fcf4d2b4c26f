import { expect, it } from 'vitest';
import { noticed } from '../../../lambda/condition-table.ts';
import { unhurried } from '../../../lambda/detection/pace.ts';
import { json, page, rejection, rig } from './scripted-host.ts';

const busy = json(429, {});

it('the client sends the set number of requests within a minute, including the token, and waits for the next one', async () => {
  const { host, client, clock } = await rig({ requestsPerMinute: 3 });
  host.script('list', page([]));
  const deadline = clock.now().add({ minutes: 10 });
  await client.list({}, { deadline });
  await client.list({}, { deadline });
  expect(clock.sleeps).toEqual([]);
  await client.list({}, { deadline });
  expect(clock.sleeps).toEqual([60_000]);
  expect(host.of('list')).toHaveLength(3);
});

it('the client sends nothing if the next minute comes too late for the call', async () => {
  const { host, client, clock } = await rig({ requestsPerMinute: 2 });
  host.script('list', page([]));
  await client.list();
  const deadline = clock.now().add({ seconds: 60 });
  const error = await rejection(client.list({}, { deadline }));
  expect(error).toMatchObject({ code: 'pace-spent' });
  expect(error).toMatchObject({ retryAfterMs: 60_000, retryHelps: true });
  expect(host.of('list')).toHaveLength(1);
  expect(clock.sleeps).toEqual([]);
});

it('a wait counts as no attempt', async () => {
  const { host, client, requests } = await rig({ requestsPerMinute: 2, limits: { attempts: 2 } });
  host.script('list', json(503, {}), page([]));
  const deadline = (await rig()).clock.now().add({ minutes: 10 });
  await client.list({}, { deadline });
  expect(requests).toEqual(['token', 'list', 'list']);
});

it('the client asks a host that gives no time once more, and then not in this minute', async () => {
  const { host, client, clock } = await rig();
  host.script('list', busy);
  const deadline = clock.now().add({ seconds: 55 });
  expect(await rejection(client.list({}, { deadline }))).toMatchObject({ code: 'rate-limited' });
  expect(host.of('list')).toHaveLength(2);
  const whatToDo = `Wait a minute, and try again. If it goes on: ${noticed['rate-limited'].toDo}`;
  const spent = await rejection(client.list({}, { deadline }));
  expect(spent).toMatchObject({ code: 'pace-spent', whatToDo });
  expect(host.of('list')).toHaveLength(2);
});

it('the token endpoint teaches the same pace', async () => {
  const { host, client, clock } = await rig();
  host.script('token', busy);
  const deadline = clock.now().add({ seconds: 55 });
  expect(await rejection(client.list({}, { deadline }))).toMatchObject({ code: 'rate-limited' });
  expect(await rejection(client.list({}, { deadline }))).toMatchObject({ code: 'pace-spent' });
  expect(host.of('token')).toHaveLength(2);
});

it("a client continues at another client's pace", async () => {
  const one = await rig();
  one.host.script('list', busy);
  await rejection(one.client.list({}, { deadline: one.clock.now().add({ seconds: 9 }) }));
  const pace = one.client.pace.value;
  expect(pace).toMatchObject({ learned: 4 });
  const { host, client, clock } = await rig();
  client.pace.value = pace;
  host.script('list', page([]));
  const deadline = clock.now().add({ seconds: 50 });
  expect(await rejection(client.list({}, { deadline }))).toMatchObject({ code: 'pace-spent' });
  client.pace.value = unhurried;
  await expect(client.list({}, { deadline })).resolves.toMatchObject({ rows: 0 });
});
