import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Carrying } from '../../console/door.ts';
import { argvOf, formFilled, formOf, formPath } from '../../console/forms.ts';
import { Runs } from '../../console/runs.ts';
import { noticed } from '../../lambda/condition-table.ts';
import { Integration } from '../scaffold/integration.ts';
import { IntegrationDoor } from './integration-door.ts';
import { Visitor } from './visitor.ts';

const doorThat = (carryOut: (argv: readonly string[], carrying: Carrying) => Promise<number>) =>
  Object.assign(new IntegrationDoor(new Integration()), { carryOut });

it('a run keeps the end of a long output, and says that the rest is left out', async () => {
  const line = `${'a day with its proof, its count and its digest '.repeat(2)}\n`;
  const door = doorThat(async (_, { tell }) => {
    for (let count = 0; count < 5_000; count += 1) tell(line);
    tell('5,000 days\n');
    return 0;
  });
  const runs = new Runs(door, { changed: () => {}, ending: new AbortController().signal });
  const { id } = runs.start('one', { integration: 'district-a', argv: ['prove'], input: '' });
  await expect.poll(() => runs.get(id)?.exitCode).toBe(0);
  const told = runs.get(id)?.told ?? '';
  expect(told.length).toBeLessThan(201_000);
  expect(told).toMatch(/^… Earlier output is left out here.*\na day with/);
  expect(told.match(/left out/g)).toHaveLength(1);
  expect(told.endsWith('5,000 days\n')).toBe(true);
});

/** Asks before it discards, and otherwise works until it is stopped. */
const asking = () =>
  doorThat(async ([, , name], { tell, confirm, stopping }) => {
    tell('\u001B[31m3 <events>\u001B[0m\n');
    if (name === 'discard') return (await confirm('Tell nobody, ever?')) ? 0 : 4;
    await once(stopping.signal, 'abort');
    return 130;
  });

it('all runs end with the console: those that wait for an answer, and those under way', async () => {
  const console = new AbortController();
  const runs = new Runs(asking(), { changed: () => {}, ending: console.signal });
  const given = (name: string) => ({ integration: 'district-a', argv: [name], input: '' });
  for (const name of ['discard', 'prove']) runs.start(name, given(name));
  expect(runs.get('discard')).toMatchObject({ question: 'Tell nobody, ever?' });
  console.abort();
  await expect.poll(() => runs.get('discard')?.exitCode).toBe(4);
  await expect.poll(() => runs.get('prove')?.exitCode).toBe(130);
});

describe('a command given at the console', () => {
  let visitor: Visitor;
  let form: string;
  beforeEach(async () => {
    const door = asking();
    visitor = await Visitor.before(door);
    form = `i/${await door.integrations()}/commands`;
  });
  afterEach(() => visitor[Symbol.asyncDispose]());

  it.each([
    ['discard', 'yes', 'Tell nobody, ever?', 'It has ended.'],
    ['discard', 'no', 'Tell nobody, ever?', 'It has ended with 4.'],
    ['check', 'stop', 'It is under way.', 'It has ended with 130.'],
  ])('%s, answered with %s, shows its output and its end', async (command, answer, asked, end) => {
    const { path, text } = await visitor.sends(`${form}/${command}`, {});
    expect(text).toContain(`<span class="bad">3 &lt;events&gt;</span>`);
    expect(text).toContain(asked);
    await visitor.sends(path, { answer });
    expect(await visitor.sees(path, /It has ended/)).toContain(end);
  });

  it('refreshes only its own page, and all others once it has ended, also late listeners', async () => {
    const opened = Date.now();
    const stream = await visitor.hears();
    const { path } = await visitor.sends(`${form}/discard`, {});
    await visitor.sends(path, { answer: 'no' });
    let heard = '';
    while (!heard.includes('data: \n')) heard += (await stream.read()).value;
    const [, run] = /^\/[^/]+\/(.*)/.exec(path) ?? [];
    expect([...new Set(heard.match(/^data: .*/gm))]).toEqual([`data: ${run}`, 'data: ']);
    const late = await visitor.hears(`?since=${opened}`);
    expect((await late.read()).value).toContain('event: change');
    for (const one of [stream, late]) await one.cancel();
  });
});

const advised = Object.values(noticed).flatMap(({ command }) =>
  command && 'ops' in command ? [command.ops] : [],
);
it.each(['holds --undeliverable', 'credentials set', ...advised])(
  'the advised command %s has a form with exactly its meaning',
  (line) => {
    const { command, filled } = formFilled(line);
    expect(argvOf(formOf(formPath(command)), filled).join(' ')).toBe(line);
  },
);
