import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { DeploymentDoor } from '../../console/index.ts';
import { type Clock, systemClock } from '../../lambda/clock.ts';
import { contract } from '../../lambda/commands/contract.ts';
import { commandRecord } from '../../lambda/decisions/command-record.ts';
import { commands } from '../../ops/commands/index.ts';
import { Duty, raisedOnce } from '../ops/duty.ts';
import { Visitor } from './visitor.ts';

// The console in front of a whole deployment, which its commands reach.
const duty = new Duty();
const { stage } = duty;
beforeAll(() => duty.build({ integration: { holdAbove: 2 } }));
afterAll(() => duty.dismantle());
raisedOnce(duty, () => stage.completedTick());
let visitor: Visitor;
beforeEach(async () => {
  visitor = await Visitor.at(duty);
});
afterEach(() => visitor[Symbol.asyncDispose]());

const add = (certified_on: string) =>
  stage.sandbox.world.add({ organization_id: stage.filtered, certified_on });

/** More certifications of one year at once than the limit. */
async function flood(year: number): Promise<void> {
  for (const day of ['05-06', '05-07', '05-08']) add(`${year}-${day}`);
  expect(await stage.completedTick()).toMatchObject({ held: 3 });
}

/** Fills in the form of a command, and waits for its question. @returns the page of its run */
async function asked(usage: string, fields: Fields, question: RegExp): Promise<string> {
  const page = `i/district-a/commands/${usage.replaceAll(' ', '-')}`;
  const { path } = await visitor.sends(page, fields);
  await visitor.sees(path, question);
  return path;
}
type Fields = Readonly<Record<string, string>>;

const recorded = z.object({ result: z.tuple([z.object({ history: z.array(commandRecord) })]) });
const history = async () => {
  const [{ history }] = recorded.parse(await duty.json('status --history')).result;
  return history;
};

it('each command that changes data is carried out, on record with its caller', async () => {
  const { clientId: client_id, clientSecret: client_secret } = stage.sandbox.credentials;
  const all: readonly (readonly [usage: string, fields: Fields, question?: RegExp])[] = [
    ['pause', { reason: 'maintenance' }],
    ['resume', {}],
    ['tick', {}],
    ['test-event', {}],
    ['prove', { from: '2019-05-06', to: '2019-05-06', now: 'on' }],
    ['release', { year: '2019' }, /Release 3 events\?/],
    ['discard', { year: '2018' }, /Tell nobody, ever, of 3 events\?/],
    ['replay', { from: '2019-05-07', to: '2019-05-07' }],
    // Nothing is missing, so this changes nothing.
    ['accept-total', { total: '1' }, /Take 1 as the right total/],
    ['credentials set', { client_id, client_secret }],
    ['baseline', { restart: 'on' }, /Read everything of district-a anew\?/],
    ['check', { note: 'on' }],
  ];
  const changing = commands.flatMap(({ usage, changes }) => (changes ? [usage] : []));
  expect(changing.toSorted()).toEqual(all.map(([usage]) => usage).toSorted());
  for (const year of [2018, 2019]) await flood(year);
  for (const [usage, fields, question] of all) {
    const before = await history();
    const path = await asked(usage, fields, question ?? /It has ended\./);
    if (question) await visitor.sends(path, { answer: 'yes' });
    await visitor.sees(path, /It has ended\./);
    const [newest, ...others] = await history();
    const by = expect.stringMatching(/^arn:aws:/);
    expect(newest, usage).toMatchObject({ by, outcome: { ok: true } });
    expect(others).toEqual(before);
  }
  // The baseline ends that was begun anew.
  await stage.completedTick();
  const names = new Set((await history()).map(({ command }) => command));
  const recording = Object.entries(contract).filter(([, { command }]) => 'by' in command.shape);
  expect([...names].sort()).toEqual(recording.map(([name]) => name).sort());
}, 60_000);

it.each([
  ['has lost a function', 'ResourceNotFoundException', 404, 'There is no function '],
  ['refuses the sign-in', 'ExpiredTokenException', 403, 'have expired.'],
])('a deployment that %s is looked up again', async (_, type, status, told) => {
  const lookUps = () => duty.cloudFormation.calls.filter((one) => one === 'DescribeStacks').length;
  expect((await visitor.opens('i/district-a/events')).status).toBe(200);
  const before = lookUps();
  const body = JSON.stringify({ __type: type });
  duty.lambda.once(duty.invocation, async () => ({ status, type: 'application/json', body }));
  expect((await visitor.opens('i/district-a/events')).text).toContain(told);
  expect((await visitor.opens('i/district-a/events')).status).toBe(200);
  expect(lookUps()).toBe(before + 1);
});

it('a tick is told to open pages', async () => {
  // The console looks at a deployment every 10 s; here, as often as it is answered.
  const sleep: Clock['sleep'] = (_, signal) => setImmediate(undefined, { signal });
  const host = { ...duty.host(), clock: { ...systemClock, sleep } };
  const options = { title: duty.stack, stack: duty.stack, local: false };
  await using watching = await Visitor.before(new DeploymentDoor(options, host));
  const stream = await watching.hears();
  let isTold = false;
  const told = stream.read().finally(() => {
    isTold = true;
  });
  while (!isTold) await stage.completedTick();
  expect((await told).value).toContain('event: change');
});

it('the command console prints an address, and ends on request', async () => {
  const program = duty.start('console --port 0');
  await program.shows(/http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\//);
  const [url = ''] = /http:\S+/.exec(program.output.text) ?? [];
  expect(await (await fetch(url)).text()).toContain('last tick');
  program.interrupt();
  expect(await program.ended).toMatchObject({ exitCode: 0, stderr: '' });
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});
