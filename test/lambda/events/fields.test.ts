import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import type { FieldChoice } from '../../../lambda/events/event.ts';
import { briefName, messageOf } from '../../../lambda/events/sns-message.ts';
import { testEvent } from '../../../lambda/events/test-event.ts';
import { anyAssessment, assessment } from '../../support/assessments.ts';
import { forAll } from '../../support/for-all.ts';
import { announcedAt, eventOf } from './announced.ts';

const identifiers = ['id', 'organization_id', 'assessment_name', 'certified_on'];
const personal = ['seid', 'name', 'first_name', 'last_name', 'email', 'organization_name'];
const addedOneDay = ['date_of_birth', 'toString', 'truncated', '__proto__', ''];

const announced = (read: Assessment, fields: FieldChoice) =>
  eventOf(read, { fields, type: 'certification.updated', changed: ['name', 'email'] });

const tell = (field: string) => `<<${field}>>`;
/** A record whose values name their fields, including those of parts and unknown fields. */
function telling(unknown: readonly string[]): Assessment {
  const own = (fields: readonly string[], prefix = '') =>
    Object.fromEntries(fields.map((field) => [field, tell(`${prefix}${field}`)]));
  const read = assessment({ assessment_name: tell('assessment_name') });
  const more = { proctor_name: tell('results'), ...own(unknown, 'results.') };
  const results = read.results.map((part) => ({ ...part, ...more }));
  return { ...read, ...own(personal), ...own(unknown), results };
}

function told(record: Assessment, fields: FieldChoice): Set<string> {
  const { body, attributes } = messageOf(announced(record, fields));
  const sent = body + JSON.stringify(attributes);
  return new Set([...sent.matchAll(/<<(.*?)>>/g)].map(([, field = '']) => field));
}

const unknownFields = fc.uniqueArray(
  fc.oneof(fc.constantFrom(...addedOneDay), fc.stringMatching(/^[a-z_]{1,12}$/)),
  { maxLength: 5 },
);
const choice = (names: readonly string[]): fc.Arbitrary<string[]> =>
  fc.subarray([...identifiers, ...personal, 'results', ...names, 'nothing_like_it'], {
    minLength: 1,
  });
const recordAndChoice = unknownFields
  .filter((names) => !names.some((name) => [...identifiers, ...personal, 'results'].includes(name)))
  .chain((names) => fc.record({ record: fc.constant(telling(names)), fields: choice(names) }));

describe('the chosen fields', () => {
  it('are in the event if the record has them, and no others are, if they are a list', () =>
    forAll(recordAndChoice, ({ record, fields }) => {
      const allowed = new Set(['assessment_name', ...fields]);
      expect([...told(record, fields)].filter((field) => !allowed.has(field))).toEqual([]);
      const { assessment: left } = announced(record, fields).data;
      const has = (name: string) => Object.hasOwn(record, name) && name !== '__proto__';
      const expected = new Set([...identifiers, ...fields].filter(has));
      expect(new Set(Object.keys(left))).toEqual(expected);
    }));

  it('are the identifiers alone, if no others were chosen', () =>
    forAll(unknownFields, (names) => {
      const record = telling(names.filter((name) => !identifiers.includes(name)));
      expect(told(record, 'identifiers')).toEqual(new Set(['assessment_name']));
      const { assessment: left } = announced(record, 'identifiers').data;
      expect(Object.keys(left)).toEqual(identifiers);
    }));

  it('are the record as it was read, including unknown fields, if all were chosen', () =>
    forAll(anyAssessment, fc.jsonValue(), (read, extra) => {
      const results = read.results.map((part) => ({ ...part, extra }));
      const record = { ...read, extra, results };
      expect(announced(record, 'all').data.assessment).toEqual(record);
    }));

  it('restrict neither the names of changed fields nor the record that was read', () => {
    const read = assessment();
    expect(announced(read, ['seid']).data.changed).toEqual(['name', 'email']);
    expect(read).toEqual(assessment());
  });

  it('restrict a test event, too', () => {
    const test = { integration: 'district-a', unique: 'a', time: announcedAt };
    const event = testEvent({ ...test, fields: ['name'] });
    expect(Object.keys(event.data.assessment)).toEqual([...identifiers, 'name']);
  });
});

describe('a brief name', () => {
  it('is the name itself up to 1,024 bytes', () => {
    for (const name of ['', 'First Aid', 'é'.repeat(512), '🪢'.repeat(256)])
      expect(briefName(name)).toBe(name);
  });

  it('is cut to whole characters otherwise, and a second cut changes nothing', () =>
    forAll(fc.string({ unit: 'binary', minLength: 300, maxLength: 1_500 }), (name) => {
      const brief = briefName(name);
      expect(Buffer.byteLength(brief)).toBeLessThanOrEqual(1_024);
      expect(briefName(brief)).toBe(brief);
      if (brief === name) return;
      expect(brief.endsWith('…')).toBe(true);
      expect(name.startsWith(brief.slice(0, -1))).toBe(true);
      expect(Buffer.byteLength(brief)).toBeGreaterThan(1_024 - 4);
      expect(brief.isWellFormed()).toBe(name.isWellFormed());
    }));
});
