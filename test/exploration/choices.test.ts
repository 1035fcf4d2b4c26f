import { describe, expect, it } from 'vitest';
import { type Choices, Replay, stepsOf, Tree } from './choices.ts';
import { type Memory, nothing, unseen } from './seen.ts';

const at = (key: number) => () => ({ key: BigInt(key), budget: nothing });

/** Three points with two options each. @returns the choices, or undefined if the rest is known */
function threeTurns(choices: Choices): string | undefined {
  let way = '';
  for (let point = 0; point < 3; point++) {
    const state = at(Number(`1${point}${way.length}`));
    const chosen = choices.choose([{ name: '' }, { name: 'x' }], state);
    if (chosen === undefined) return undefined;
    way += chosen;
  }
  return way;
}

function all(tree: Tree): (string | undefined)[] {
  const ways: (string | undefined)[] = [];
  while (tree.next()) ways.push(threeTurns(tree));
  return ways;
}

describe('a tree of choices', () => {
  it('takes each path once', () => {
    const ways = all(new Tree(unseen));
    expect(ways).toHaveLength(8);
    expect(ways.toSorted()).toEqual(['', 'x', 'x', 'x', 'xx', 'xx', 'xx', 'xxx']);
  });

  it('does not continue from a state that was met before', () => {
    const met = new Set<bigint>();
    const memory: Memory = { isNew: ({ key }) => !met.has(key) && Boolean(met.add(key)) };
    const ways = all(new Tree(memory));
    // A state has the number of choices so far, and not the choices: two paths meet before the last
    // turn.
    expect(ways.filter((way) => way !== undefined)).toHaveLength(6);
    expect(new Set(ways)).toEqual(new Set(['', 'x', 'xx', 'xxx', undefined]));
  });

  it('continues with branches that another tree has left', () => {
    const first = new Tree(unseen);
    first.next();
    const ways = [threeTurns(first), ...all(new Tree(unseen, first.branches))];
    expect(ways).toHaveLength(8);
  });
});

it('a trail is refused if it does not fit', () => {
  expect(() => threeTurns(new Replay(stepsOf('1:die')))).toThrow(RangeError);
});
