import { describe, expect, it } from 'vitest';
import { brief, briefly } from '../../../lambda/operations/record.ts';

const ids = (many: number) => Array.from({ length: many }, (_, index) => index + 1);

describe('what is kept of a command and its answer', () => {
  it('is everything, as long as lists are short', () => {
    const command = { command: 'release', ids: ids(20), digest: false, after: null };
    expect(briefly(command)).toEqual(command);
  });

  it('of a long list is its beginning, however deep it lies', () => {
    const shown = [...ids(20), 'and 980 more'];
    expect(briefly({ result: { next: { ids: ids(1_000) } } })).toEqual({
      result: { next: { ids: shown } },
    });
    expect(brief([[ids(1_000)]])).toEqual([[shown]]);
  });

  it('leaves out what is not there', () => {
    expect(briefly({ by: undefined, limit: 0 })).toEqual({ limit: 0 });
  });
});
