import { describe, expect, it } from 'vitest';
import { happened, verdictOfUnrest } from '../../../bench/peers/verdict.ts';

const heard = (what: Parameters<typeof happened>[0], id: number, event = `${what} ${id}`) => ({
  ...happened(what)(id),
  id: event,
});
const looks = (...ids: number[][]) => ids.map((look) => new Set(look));

describe('the verdict on a world that changes all the time', () => {
  it('expects each record that appeared or disappeared for good', () => {
    expect(verdictOfUnrest(looks([1, 2], [2, 3], [2, 3]), [])).toEqual({
      ...{ happened: 2, lost: 2, untrue: 0, twice: 0 },
    });
    const all = [heard('withdrawn', 1), heard('created', 3)];
    expect(verdictOfUnrest(looks([1, 2], [2, 3]), all)).toMatchObject({ lost: 0, untrue: 0 });
  });

  it('calls changes of records false that were always there', () => {
    const score = verdictOfUnrest(looks([1], [1]), [heard('withdrawn', 1), heard('created', 1)]);
    expect(score).toMatchObject({ happened: 0, untrue: 2 });
  });

  it('leaves open records that appeared and disappeared between looks, and all edits', () => {
    const open = [
      heard('withdrawn', 1),
      heard('created', 1),
      heard('created', 9),
      heard('updated', 2),
    ];
    expect(verdictOfUnrest(looks([1, 2], [2], [1, 2]), open)).toMatchObject({
      ...{ lost: 0, untrue: 0 },
    });
  });

  it('calls the removal of a record false that only appeared', () => {
    const told = [heard('created', 1), heard('withdrawn', 1)];
    expect(verdictOfUnrest(looks([], [1]), told)).toMatchObject({ lost: 0, untrue: 1 });
  });

  it('counts a single creation that was told twice', () => {
    const told = [heard('created', 1, 'a'), heard('created', 1, 'b')];
    expect(verdictOfUnrest(looks([], [1]), told)).toMatchObject({ lost: 0, twice: 1 });
  });
});
