import { expect, it } from 'vitest';
import * as z from 'zod';
import { happened, verdictOfUnrest } from '../../../bench/peers/verdict.ts';

const what = z.enum(['created', 'updated', 'withdrawn']);

/** Looks at the world, each the ids of its records; and changes that a peer told, by type and id. */
it.each([
  ['counts changes that nobody heard of', '12 23', '', { happened: 2, lost: 2 }],
  ['knows what was heard of', '12 23', 'withdrawn 1, created 3', { lost: 0, untrue: 0 }],
  ['refutes changes of lasting records', '1 1', 'withdrawn 1, created 1', { untrue: 2 }],
  ['leaves a short absence open', '12 2 12', 'withdrawn 1, created 1', { lost: 0, untrue: 0 }],
  ['leaves short lives and edits open', '12 12', 'created 9, updated 2', { lost: 0, untrue: 0 }],
  ['refutes the removal of a new record', ' 1', 'created 1, withdrawn 1', { lost: 0, untrue: 1 }],
  ['counts a creation that was told twice', ' 1', 'created 1, created 1', { lost: 0, twice: 1 }],
])('the verdict on a world that changes all the time %s', (_, looks, told, verdict) => {
  const seen = looks.split(' ').map((look) => new Set([...look].map(Number)));
  const heard = told.split(', ').filter(Boolean);
  const events = heard.map((one, n) => {
    const [type, id] = one.split(' ');
    return { ...happened(what.parse(type))(Number(id)), id: `event ${n}` };
  });
  expect(verdictOfUnrest(seen, events)).toMatchObject(verdict);
});
