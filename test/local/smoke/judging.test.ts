import { describe, expect, it } from 'vitest';
import type { TimetableChange } from '../../../local/partner-sandbox/timetable.ts';
import { falsehoods, type QueuedEvent, untold, wrongDays } from '../../../local/smoke/judging.ts';

const change = (kind: TimetableChange['kind'], id: number): TimetableChange => ({
  kind,
  id,
  at: 0,
  ...(kind === 'edited' && { organizationId: 2 }),
});
const heard = (id: string, type: string, organizationId = 1, at = 0): QueuedEvent => ({
  id,
  type,
  about: Number(id.split('/')[1]),
  organizationId,
  revision: Number(id.split('/')[2]),
  at,
});

describe('a change', () => {
  const restored = { ...change('restored', 7), at: 60 };

  it.each([
    [change('completed', 7), heard('demo/7/1', 'created'), true],
    [change('backdated', 7), heard('demo/7/1', 'created'), true],
    [change('edited', 7), heard('demo/7/2', 'updated', 2), true],
    [change('removed', 7), heard('demo/7/2', 'withdrawn'), true],
    [change('removed', 7), heard('demo/7/1', 'created'), false],
    [change('removed', 7), heard('demo/9/2', 'withdrawn'), false],
    [change('restored', 7), heard('demo/7/3', 'restored'), true],
    // An edit is in an event with its organization only, which may be the first one.
    [change('edited', 7), heard('demo/7/2', 'updated', 1), false],
    [change('edited', 7), heard('demo/7/1', 'created', 1), false],
    [change('edited', 7), heard('demo/7/1', 'created', 2), true],
    // A restoration is created only if it is new, and nobody was told of it before.
    [restored, heard('demo/7/1', 'created', 1, 60), true],
    [restored, heard('demo/7/1', 'created', 1, 59), false],
    [restored, heard('demo/7/2', 'created', 1, 61), false],
  ])('%j: does %j tell of it? %s', (due, event, isTold) => {
    expect(untold([due], [event])).toEqual(isTold ? [] : [due]);
  });
});

describe('a false event', () => {
  const happened = [change('completed', 7), change('edited', 7)];

  it('has no matching change', () => {
    expect(falsehoods(happened, [heard('demo/7/2', 'withdrawn')])).toEqual([
      'demo/7/2 says withdrawn, and nothing like it has happened',
    ]);
    expect(falsehoods(happened, [heard('demo/8/1', 'created')])).toHaveLength(1);
  });

  it("repeats another id's event", () => {
    const twice = [heard('demo/7/1', 'created'), heard('demo/7/2', 'created')];
    expect(falsehoods(happened, twice)).toEqual(['demo/7/2 says created, as demo/7/1 has before']);
  });

  it('is neither a second delivery by SQS nor a test event', () => {
    const repeated = [heard('demo/7/1', 'created'), heard('demo/7/1', 'created')];
    expect(falsehoods(happened, [...repeated, heard('demo/test/1', 'test')])).toEqual([]);
  });
});

describe('a day of the certificate that', () => {
  it.each([
    ['has another number in the world', { count: 2 }, ['2026-11-20: 2 known, 3 in the world']],
    ['is unproven', { state: 'unproven' }, ['2026-11-20: unproven']],
    [
      'has a certification that does not exist',
      { day: '2026-11-19', count: 1 },
      ['2026-11-19: 1 known, 0 in the world'],
    ],
    ["has the world's number", {}, []],
    ["has the world's number since its proof", { count: 2, since: 1 }, []],
    ['has had a change recently', { day: '2026-11-21', count: 9 }, []],
    ['is in the future', { state: 'not-yet', count: 0 }, []],
  ])('%s', (_, odd, problems) => {
    const proven = { day: '2026-11-20', state: 'proven', count: 3 };
    const world = new Map([['2026-11-20', 3]]);
    expect(wrongDays([{ ...proven, ...odd }], world, new Set(['2026-11-21']))).toEqual(problems);
  });
});
