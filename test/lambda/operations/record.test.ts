import { expect, it } from 'vitest';
import { brief, briefly } from '../../../lambda/operations/record.ts';

const ids = (many: number) => Array.from({ length: many }, (_, index) => index + 1);
const shown = [...ids(20), 'and 980 more'];

it.each([
  [
    'is complete as long as lists are short',
    { ids: ids(20), after: null },
    { ids: ids(20), after: null },
  ],
  ['has the beginning of a long list', { result: { ids: ids(1_000) } }, { result: { ids: shown } }],
  ['leaves out absent values', { by: undefined, limit: 0 }, { limit: 0 }],
])('the record of a command and its answer %s', (_, value, expected) => {
  expect(briefly(value)).toStrictEqual(expected);
  expect(brief([[value]])).toStrictEqual([[expected]]);
});
