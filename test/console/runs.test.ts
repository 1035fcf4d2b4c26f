import { once } from 'node:events';
import { expect, it } from 'vitest';
import type { Carrying } from '../../console/door.ts';
import { Runs } from '../../console/runs.ts';
import { Integration } from '../scaffold/integration.ts';
import { IntegrationDoor } from './integration-door.ts';

it('a run keeps the end of a long output, and says that the rest is left out', async () => {
  const line = `${'a day with its proof, its count and its digest '.repeat(2)}\n`;
  const door = Object.assign(new IntegrationDoor(new Integration()), {
    carryOut: async (_: readonly string[], { tell }: { tell: (text: string) => void }) => {
      for (let count = 0; count < 5_000; count += 1) tell(line);
      tell('5,000 days\n');
      return 0;
    },
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

it('all runs end with the console: those that wait for an answer, and those under way', async () => {
  const door = Object.assign(new IntegrationDoor(new Integration()), {
    carryOut: async ([, , name]: readonly string[], { confirm, stopping }: Carrying) => {
      if (name === 'discard') return (await confirm('Tell nobody, ever?')) ? 0 : 4;
      await once(stopping.signal, 'abort');
      return 130;
    },
  });
  const console = new AbortController();
  const runs = new Runs(door, { changed: () => {}, ending: console.signal });
  const given = (name: string) => ({ integration: 'district-a', argv: [name], input: '' });
  for (const name of ['discard', 'prove']) runs.start(name, given(name));
  expect(runs.get('discard')).toMatchObject({ question: 'Tell nobody, ever?' });
  console.abort();
  await expect.poll(() => runs.get('discard')?.exitCode).toBe(4);
  await expect.poll(() => runs.get('prove')?.exitCode).toBe(130);
});
