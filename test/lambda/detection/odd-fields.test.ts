import { describe, expect, it } from 'vitest';
import { isOver, oddPaths, withMet } from '../../../lambda/detection/odd-fields.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import { assessment } from '../../support/assessments.ts';

const promised = [
  ...['name', 'first_name', 'last_name', 'email'],
  ...['organization_id', 'organization_name', 'assessment_name', 'results'],
];

describe('the odd paths of a record', () => {
  it('are none of a complete one, nor of one without a State Educator ID', () => {
    expect(oddPaths(assessment())).toEqual([]);
    expect(oddPaths(assessment({ seid: null }))).toEqual([]);
  });

  it.each(promised)('name %s where it is null or absent', (field) => {
    expect(oddPaths({ ...assessment(), [field]: null })).toEqual([field]);
    const without: Assessment = { ...assessment(), [field]: undefined };
    expect(oddPaths(without)).toEqual([field]);
  });

  it('name the State Educator ID where it is absent', () => {
    expect(oddPaths({ ...assessment(), seid: undefined })).toEqual(['seid']);
  });

  it('name a field of several parts once', () => {
    const [part] = assessment().results;
    const results = [{ ...part, proctor_name: null }, { ...part }, {}];
    expect(oddPaths({ ...assessment(), results })).toEqual([
      'results[].proctor_name',
      'results[].assessment_id',
      'results[].assessment_name',
      'results[].certified_on',
      'results[].proctor_id',
    ]);
  });
});

describe('what is known of odd fields', () => {
  it('has each path with the last time and the most records of one tick', () => {
    const first = withMet({}, new Map([['name', new Set([1, 2])]]), 1_000);
    expect(first).toEqual({ name: { at: 1_000, records: 2 } });
    const met = new Map([
      ['name', new Set([2])],
      ['email', new Set([3, 4, 5])],
    ]);
    const second = withMet(first, met, 2_000);
    expect(second).toEqual({ email: { at: 2_000, records: 3 }, name: { at: 2_000, records: 2 } });
    expect(Object.keys(second)).toEqual(['email', 'name']);
  });

  it('is over when every day was read since the last of them was met', () => {
    const known = { email: { at: 2_000, records: 1 }, name: { at: 1_000, records: 1 } };
    expect(isOver(known, [2_001, 3_000])).toBe(true);
    expect(isOver(known, [2_000, 3_000])).toBe(false);
    expect(isOver(known, [0, 3_000])).toBe(false);
  });
});
