import { expect, it } from 'vitest';
import { Runs } from '../../console/runs.ts';
import { Integration } from '../scaffold/integration.ts';
import { IntegrationDoor } from './integration-door.ts';

it('keeps of what a command tells the end, and says that it has left out the rest', async () => {
  const line = `${'a day with its proof, its count and its digest '.repeat(2)}\n`;
  const door = Object.assign(new IntegrationDoor(new Integration()), {
    carryOut: async (_: readonly string[], { tell }: { tell: (text: string) => void }) => {
      for (let count = 0; count < 5_000; count += 1) tell(line);
      tell('5,000 days\n');
      return 0;
    },
  });
  const runs = new Runs(door, () => {});
  const { id } = runs.start('one', { integration: 'district-a', argv: ['prove'], input: '' });
  await expect.poll(() => runs.get(id)?.exitCode).toBe(0);
  const told = runs.get(id)?.told ?? '';
  expect(told.length).toBeLessThan(201_000);
  expect(told).toMatch(/^… What came before is left out here.*\na day with/);
  expect(told.match(/left out/g)).toHaveLength(1);
  expect(told.endsWith('5,000 days\n')).toBe(true);
});
