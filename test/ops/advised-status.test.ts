import { describe, expect, it } from 'vitest';
import { reasons } from '../../lambda/operations/commands/status.ts';
import { adviceByReason } from '../../ops/advised-status.ts';

const advice = adviceByReason();

describe('what keeps an integration from being up to date', () => {
  it.each(reasons)(
    'has a command, or says whom to ask or that nothing is to be done: %s',
    (reason) => {
      const { toDo, command } = advice[reason];
      expect(toDo).toMatch(/^[A-Z].*\.$/);
      if (command === undefined) expect(toDo).toMatch(/^Nothing\b|partner|cdk deploy|^Grant/);
    },
  );

  it.each(['never-ticked', 'backing-off', 'partner-silent'] as const)(
    'names the command that finds the cause: %s',
    (reason) => {
      expect(advice[reason].command).toEqual({ ops: 'check' });
    },
  );
});
