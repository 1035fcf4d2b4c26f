import { expect, it } from 'vitest';
import { brief } from '../../../lambda/commands/record.ts';

const ids = (many: number) => Array.from({ length: many }, (_, index) => index + 1);

it('the record of a command and its answer has the beginnings of long lists, and no absent value', () => {
  const [short, long] = [
    { ids: ids(20), after: null },
    { ids: ids(1_000), limit: 0 },
  ];
  expect(brief([[{ ...short, by: undefined }, { result: long }]])).toStrictEqual([
    [short, { result: { ids: [...ids(20), 'and 980 more'], limit: 0 } }],
  ]);
});
