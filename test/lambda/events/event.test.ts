import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { certificationEventSchema } from '../../../lambda/events/event.ts';
import { messageOf } from '../../../lambda/events/sns-message.ts';
import { testEvent } from '../../../lambda/events/test-event.ts';
import { anyRecord, assessment } from '../../support/assessments.ts';
import { forAll } from '../../support/for-all.ts';
import { announcedAt, eventOf } from './announced.ts';

const read = assessment({ id: 48_213 });
const { id, organization_id, assessment_name, certified_on } = read;
const identifiers = { id, organization_id, assessment_name, certified_on };
const restored = { type: 'certification.restored', revision: 3 } as const;

describe('an event', () => {
  it('has an id, a subject and a sequence made of integration, assessment and revision', () => {
    expect(eventOf(read, { ...restored, late: true, changed: ['email'] })).toEqual({
      specversion: '1.0',
      id: 'district-a/48213/3',
      type: 'certification.restored',
      source: 'urn:certification-notifier:district-a',
      subject: '48213',
      time: '2026-11-21T08:00:04.120Z',
      datacontenttype: 'application/json',
      dataschema: 'urn:certification-notifier:schema:certification-event:1',
      sequence: '3',
      data: { assessment: read, late: true, changed: ['email'] },
    });
  });

  it('is parsed as it was written, including undocumented fields', () =>
    forAll(anyRecord, fc.jsonValue(), (read, extra) => {
      const written = JSON.stringify(eventOf({ ...read, extra }));
      expect(certificationEventSchema.parse(JSON.parse(written))).toEqual(JSON.parse(written));
    }));

  const { email: _, ...withoutEmail } = read;
  const nulls = { name: null, organization_id: null, assessment_name: null, results: null };
  const partly = { ...withoutEmail, ...nulls };
  const noNames = { organization_id: null, assessment_name: null };
  const all = 'all';
  it.each([
    ['with unsent fields as null or absent', partly, { type: restored.type }, partly, {}],
    [
      'of a withdrawal with unsent fields',
      partly,
      { type: 'certification.withdrawn', fields: all },
      { ...identifiers, ...noNames },
      {},
    ],
    ['of a withdrawal', read, { type: 'certification.withdrawn' }, identifiers, {}],
    ['to be brief, of all', read, { brief: true, fields: all }, identifiers, { truncated: true }],
    [
      'to be brief, of some',
      read,
      { brief: true, fields: ['email'] },
      identifiers,
      { truncated: true },
    ],
    ['to be brief, of none', read, { brief: true, fields: 'identifiers' }, identifiers, {}],
    ['that is a replay', read, { replay: true }, read, { replay: true }],
  ] as const)('has its record and its marks: %s', (_, record, more, assessment, marks) => {
    const { data } = eventOf(record, more);
    expect(data).toStrictEqual({ assessment, late: false, changed: [], ...marks });
  });
});

describe('a test event', () => {
  const time = announcedAt;
  const test = { integration: 'district-a', unique: 'a1', time, fields: 'all' } as const;

  it('says so by its type, its id and its subject', () => {
    expect(testEvent(test)).toMatchObject({
      id: 'district-a/test/a1',
      type: 'certification.test',
      subject: 'test',
      source: 'urn:certification-notifier:district-a',
    });
    expect(certificationEventSchema.parse(testEvent(test))).toEqual(testEvent(test));
  });

  it('passes the filter of its subscriber', () => {
    const chosen = { organization_id: 7, assessment_name: 'First Aid', like: 'late' as const };
    expect(messageOf(testEvent({ ...test, ...chosen })).attributes).toMatchObject({
      organization_id: { StringValue: '7' },
      assessment_name: { StringValue: 'First Aid' },
      late: { StringValue: 'true' },
    });
  });

  it('has a larger sequence than the one before, as the events of each subject', () => {
    const next = testEvent({ ...test, unique: 'a2', time: time.add({ milliseconds: 1 }) });
    expect(Number(next.sequence)).toBeGreaterThan(Number(testEvent(test).sequence));
  });
});
