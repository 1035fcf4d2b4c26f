import { describe, expect, it } from 'vitest';
import { Calendar } from '../../../lambda/decisions/calendar.ts';
import type { OpenConditions } from '../../../lambda/decisions/conditions.ts';
import { oddPaths } from '../../../lambda/decisions/fingerprint.ts';
import { conditionsOf } from '../../../lambda/decisions/observations.ts';
import { nothingNoted } from '../../scaffold/facts.ts';
import { assessment } from '../../support/assessments.ts';

const promised = [
  ...['name', 'first_name', 'last_name', 'email'],
  ...['organization_id', 'organization_name', 'assessment_name', 'results'],
];

describe('the odd paths of a record', () => {
  const [part] = assessment().results;
  const fields = ['proctor_name', 'assessment_id', 'assessment_name', 'certified_on', 'proctor_id'];
  const ofParts = fields.map((field) => `results[].${field}`);
  const oneField = promised.flatMap((field): [object, string[]][] => [
    [{ [field]: null }, [field]],
    [{ [field]: undefined }, [field]],
  ]);
  it.each<[fields: object, paths: string[]]>([
    ...oneField,
    [{}, []],
    [{ seid: null }, []],
    [{ seid: undefined }, ['seid']],
    [{ results: [{ ...part, proctor_name: null }, { ...part }, {}] }, ofParts],
  ])('are those of unsent fields, but not of a null State Educator ID: %o', (fields, expected) => {
    expect(oddPaths({ ...assessment(), ...fields })).toEqual(expected);
  });
});

describe('the record of odd fields', () => {
  const opened = (paths: Record<string, { at: number; records: number }>): OpenConditions =>
    new Map([['odd-fields', { since: 0, number: 2, told: { at: 0, number: 2 }, paths }]]);

  it('has each path with the last time and the most records of one tick', () => {
    const first = { name: { at: 1_000, records: 2 } };
    const oddFields = new Map([
      ['name', new Set([2])],
      ['email', new Set([3, 4, 5])],
    ]);
    const facts = { ...nothingNoted(), oddFields, waiting: {} };
    const { 'odd-fields': seen } = conditionsOf(facts, opened(first), 2_000);
    expect(seen).toEqual({
      number: 2,
      details: ['email: 3 records', 'name: 2 records'],
      paths: { email: { at: 2_000, records: 3 }, name: { at: 2_000, records: 2 } },
    });
    expect(Object.keys(seen?.paths ?? {})).toEqual(['email', 'name']);
  });

  it('ends when every day was read after the last odd field', () => {
    const known = { email: { at: 2_000, records: 1 }, name: { at: 1_000, records: 1 } };
    const whenReadAt = (...readAt: number[]) => {
      const entries = readAt.map((at) => ({ count: 1, readAt: at }));
      const days = entries.map((entry, nth) => [`2026-11-0${nth + 1}`, entry] as const);
      const facts = { ...nothingNoted(), calendar: new Calendar(days) };
      return conditionsOf(facts, opened(known), 4_000)['odd-fields'];
    };
    expect(whenReadAt(2_001, 3_000)).toEqual({ number: 0 });
    expect(whenReadAt(2_000, 3_000)).toBeUndefined();
    expect(whenReadAt(0, 3_000)).toBeUndefined();
  });
});
