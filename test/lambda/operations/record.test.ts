import { describe, expect, it } from 'vitest';
import { brief, briefly } from '../../../lambda/operations/record.ts';

const ids = (many: number) => Array.from({ length: many }, (_, index) => index + 1);

describe('the record of a command and its answer', () => {
  it('is complete as long as lists are short', () => {
    const command = { command: 'release', ids: ids(20), digest: false, after: null };
    expect(briefly(command)).toEqual(command);
  });

  it('has the beginning of a long list at any depth', () => {
    const shown = [...ids(20), 'and 980 more'];
    expect(briefly({ result: { next: { ids: ids(1_000) } } })).toEqual({
      result: { next: { ids: shown } },
    });
    expect(brief([[ids(1_000)]])).toEqual([[shown]]);
  });

  it('leaves out absent values', () => {
    expect(briefly({ by: undefined, limit: 0 })).toEqual({ limit: 0 });
  });
});
