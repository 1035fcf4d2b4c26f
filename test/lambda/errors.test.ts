import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { NotifierError } from '../../lambda/errors.ts';

class TestHallClosedError extends NotifierError {
  readonly code = 'test-hall-closed';
  readonly retryHelps = true;
  readonly whatToDo = 'Come back tomorrow.';
}

describe('an error of the notifier', () => {
  it('is named after its code, whatever a minifier has made of its class', () => {
    const error = new TestHallClosedError('The hall is closed.');
    expect(error.name).toBe('TestHallClosedError');
    expect(String(error)).toBe('TestHallClosedError: The hall is closed.');
    expect(inspect(error)).toContain('TestHallClosedError: The hall is closed.');
    expect(Object.keys(error)).not.toContain('name');
  });

  it('keeps its cause', () => {
    const cause = new Error('reset');
    expect(new TestHallClosedError('The hall is closed.', { cause }).cause).toBe(cause);
  });
});
