import { describe, expect, it } from 'vitest';
import type { TimetableChange } from '../../../local/partner-sandbox/timetable.ts';
import { falsehoods, type QueuedEvent, untold, wrongDays } from '../../../local/smoke/judging.ts';

const change = (kind: TimetableChange['kind'], id: number): TimetableChange => ({
  kind,
  id,
  at: 0,
  ...(kind === 'edited' && { organizationId: 2 }),
});
const heard = (
  id: string,
  type: string,
  organizationId = type === 'updated' ? 2 : 1,
  at = 0,
): QueuedEvent => ({
  id,
  type,
  about: Number(id.split('/')[1]),
  organizationId,
  revision: Number(id.split('/')[2]),
  at,
});

describe('a change without an event', () => {
  it.each([
    ['completed', 'created'],
    ['backdated', 'created'],
    ['edited', 'updated'],
    ['removed', 'withdrawn'],
    ['restored', 'restored'],
    ['restored', 'created'],
  ] as const)('does not include one that was %s, if %s has come', (kind, type) => {
    expect(untold([change(kind, 7)], [heard('demo/7/1', type)])).toEqual([]);
  });

  it('includes an edit without an event, unless the first event shows it', () => {
    const due = [change('edited', 7)];
    expect(untold(due, [heard('demo/7/1', 'created', 1)])).toEqual(due);
    expect(untold(due, [heard('demo/7/2', 'updated', 1)])).toEqual(due);
    expect(untold(due, [heard('demo/7/1', 'created', 2)])).toEqual([]);
    expect(untold(due, [heard('demo/7/2', 'updated', 2)])).toEqual([]);
  });

  it('includes a restoration that only an older event, or one of a known assessment, calls created', () => {
    const due = [{ ...change('restored', 7), at: 60 }];
    expect(untold(due, [heard('demo/7/1', 'created', 1, 59)])).toEqual(due);
    expect(untold(due, [heard('demo/7/2', 'created', 1, 61)])).toEqual(due);
    expect(untold(due, [heard('demo/7/1', 'created', 1, 60)])).toEqual([]);
  });

  it("includes one with another kind of event, or with another assessment's", () => {
    const due = [change('edited', 7), change('removed', 8)];
    expect(untold(due, [heard('demo/7/1', 'created'), heard('demo/9/2', 'withdrawn')])).toEqual(
      due,
    );
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

describe('a wrong day of the certificate', () => {
  const proven = { day: '2026-11-20', state: 'proven', count: 3 };
  const world = new Map([['2026-11-20', 3]]);

  it.each([
    ['has another number in the world', [{ ...proven, count: 2 }], '2 known, 3 in the world'],
    ['is unproven', [{ ...proven, state: 'unproven' }], 'unproven'],
    [
      'has a certification that does not exist',
      [{ day: '2026-11-19', state: 'proven', count: 1 }],
      '1 known, 0 in the world',
    ],
  ])('%s', (_, days, problem) => {
    expect(wrongDays(days, world, new Set())).toEqual([`${days[0]?.day}: ${problem}`]);
  });

  it("does not equal the world's number at its proof or now", () => {
    expect(wrongDays([proven], world, new Set())).toEqual([]);
    expect(wrongDays([{ ...proven, count: 2, since: 1 }], world, new Set())).toEqual([]);
  });

  it('has no recent change, and is not in the future', () => {
    expect(wrongDays([{ ...proven, count: 9 }], world, new Set(['2026-11-20']))).toEqual([]);
    expect(wrongDays([{ ...proven, count: 0, state: 'not-yet' }], world, new Set())).toEqual([]);
  });
});
