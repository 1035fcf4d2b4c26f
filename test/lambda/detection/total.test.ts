import { describe, expect, it } from 'vitest';
import { type BeforeTotal, judgeTotal } from '../../../lambda/detection/total.ts';
import { tickSettings } from '../../scaffold/settings.ts';

const { audit: periods } = tickSettings();
const now = Date.parse('2026-11-21T08:00:00Z');

const atRest = { expected: 100, unexplained: 0, recentAuditAt: now, historyAuditAt: now };

/** How ticks judge these totals, one after the other, whatever else they do. */
function judged(totals: readonly number[], known: Partial<BeforeTotal> = {}) {
  let state: BeforeTotal = { ...atRest, ...known };
  return totals.map((count) => {
    const { isCollapsed, changes } = judgeTotal(count, state, periods);
    const { collapsedFrom = 0, accepted, ...rest } = { ...state, ...changes };
    state = {
      ...rest,
      ...(collapsedFrom > 0 && { collapsedFrom }),
      ...(accepted && { accepted }),
    };
    return isCollapsed;
  });
}

describe('a total', () => {
  it('below half of what is expected has collapsed, until it is back above half', () => {
    expect(judged([50, 49, 10, 49, 50, 51, 100])).toEqual([
      ...[false, true, true, true, false, false, false],
    ]);
  });

  it('of nothing where nothing is expected has not collapsed', () => {
    expect(judged([0, 1], { expected: 0 })).toEqual([false, false]);
    expect(judged([0], { expected: 1 })).toEqual([true]);
  });

  it('has not collapsed by what no day explains', () => {
    expect(judged([50], { unexplained: 20 })).toEqual([true]);
    expect(judged([40], { unexplained: -20 })).toEqual([false]);
  });
});

describe('a total that was accepted', () => {
  const accepted = { total: 30, before: 100 };
  const nothing = { total: 0, before: 100 };

  it('is right although it is below half, and so is a little less', () => {
    expect(judged([30, 28, 15, 14], { accepted })).toEqual([false, false, false, true]);
  });

  it('is right no longer once most of what had gone is back: to go again, it has to be accepted again', () => {
    expect(judged([30, 100, 30], { accepted })).toEqual([false, false, true]);
  });

  it('is right no longer, either, if it comes back while days are still read again', () => {
    expect(judged([30, 100, 30], { accepted, recentAuditAt: 0 })).toEqual([
      ...[false, false, true],
    ]);
  });

  it('is kept in mind while days are read again, which find what is expected to be more', () => {
    const reading = { ...atRest, accepted, expected: 30, recentAuditAt: 0 };
    expect(judgeTotal(30, reading, periods).changes).toEqual({});
    expect(judgeTotal(30, { ...reading, expected: 100 }, periods)).toMatchObject({
      isCollapsed: false,
    });
  });

  it('is forgotten once what is gone is committed', () => {
    const { changes } = judgeTotal(30, { ...atRest, accepted, expected: 30 }, periods);
    expect(changes).toEqual({ accepted: null });
  });

  it('stays right when new ones come, however small it is', () => {
    expect(judged([3, 7, 30, 3], { accepted: { total: 3, before: 100 } })).toEqual([
      ...[false, false, false, false],
    ]);
  });

  it('can be nothing at all, until most is there again', () => {
    expect(judged([0, 0, 1, 0], { accepted: nothing })).toEqual([false, false, false, false]);
    expect(judged([0, 0, 60, 0], { accepted: nothing })).toEqual([false, false, false, true]);
    const reading = { ...atRest, accepted: nothing, expected: 0, recentAuditAt: 0 };
    expect(judgeTotal(0, reading, periods)).toMatchObject({ isCollapsed: false, changes: {} });
    const { changes } = judgeTotal(0, { ...reading, recentAuditAt: now }, periods);
    expect(changes).toEqual({ accepted: null });
  });
});
