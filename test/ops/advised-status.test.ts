import { describe, expect, it } from 'vitest';
import { reasons } from '../../lambda/operations/commands/status.ts';
import { adviceByReason } from '../../ops/advised-status.ts';

const advice = adviceByReason();

describe('a reason why an integration is not up to date', () => {
  it.each(reasons)('has a command, names a contact, or needs nothing: %s', (reason) => {
    const { toDo, command } = advice[reason];
    expect(toDo).toMatch(/^[A-Z].*\.$/);
    if (command === undefined) expect(toDo).toMatch(/^Nothing\b|partner|cdk deploy|^Grant/);
  });

  it.each(['never-ticked', 'backing-off', 'partner-silent'] as const)(
    'has the command that finds the cause: %s',
    (reason) => {
      expect(advice[reason].command).toEqual({ ops: 'check' });
    },
  );
});
