import { describe, expect, it } from 'vitest';
import { billOf, totalOf } from '../../scripts/cost.ts';

describe('a month of one integration', () => {
  it('costs less than five dollars with a tick a minute and ten certifications a day', () => {
    expect(totalOf(billOf(1, 10))).toBeLessThan(5);
  });

  it('asks KMS at most six times in five minutes: for the ledger, twice for topics, three times for a queue', () => {
    const requests = billOf(1, 50_000).find(([name]) => name === 'Key: requests');
    const windows = (730 * 60) / 5;
    expect(requests?.[3]).toBeCloseTo(6 * windows);
  });
});
