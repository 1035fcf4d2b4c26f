import { expect, it } from 'vitest';
import { reasons } from '../../lambda/operations/commands/status.ts';
import { adviceByReason } from '../../ops/advised-status.ts';

it.each(reasons)('%s has a command, names a contact, or needs nothing', (reason) => {
  const { toDo, command } = adviceByReason()[reason];
  expect(toDo).toMatch(/^[A-Z].*\.$/);
  if (command === undefined) expect(toDo).toMatch(/^Nothing\b|partner|cdk deploy|^Grant/);
  if (/^(never-ticked|backing-off|partner-silent)$/.test(reason))
    expect(command).toEqual({ ops: 'check' });
});
