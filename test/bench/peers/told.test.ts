import { expect, it } from 'vitest';
import { learned } from '../../../bench/peers/told.ts';

const row = (id: number, digest = 'a') => ({ id, digest });

it.each([
  ['new and changed rows', [row(1), row(2, 'b'), row(3)], false, ['2 updated', '3 created']],
  ['removed rows after a sync of all rows', [row(1)], true, ['2 withdrawn']],
  ['no removed rows after a sync of some', [row(1)], false, []],
])("a peer's consumer learns of %s, once", (_, rows, isWhole, told) => {
  const known = new Map([1, 2].map((id) => [id, 'a']));
  const heard = learned(known, rows, isWhole).map(
    ({ type, subject }) => `${subject} ${type.replace('certification.', '')}`,
  );
  expect(heard).toEqual(told);
  expect(learned(known, rows, isWhole)).toEqual([]);
});
