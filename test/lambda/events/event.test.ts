import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import { certificationEvent, certificationEventSchema } from '../../../lambda/events/event.ts';
import { messageOf } from '../../../lambda/events/sns-message.ts';
import { testEvent } from '../../../lambda/events/test-event.ts';
import { anyRecord, assessment } from '../../support/assessments.ts';

const announced = {
  integration: 'district-a',
  revision: 3,
  late: true,
  time: '2026-11-21T08:00:04.120Z',
} as const;

function sighting(read: Assessment, { replay = false } = {}) {
  return certificationEvent({
    ...announced,
    type: 'certification.restored',
    assessment: read,
    fields: 'all',
    changed: ['email'],
    replay,
  });
}

describe('an event', () => {
  it('has an id, a subject and a sequence made of integration, assessment and revision', () => {
    expect(sighting(assessment({ id: 48_213 }))).toEqual({
      specversion: '1.0',
      id: 'district-a/48213/3',
      type: 'certification.restored',
      source: 'urn:certification-notifier:district-a',
      subject: '48213',
      time: '2026-11-21T08:00:04.120Z',
      datacontenttype: 'application/json',
      dataschema: 'urn:certification-notifier:schema:certification-event:1',
      sequence: '3',
      data: { assessment: assessment({ id: 48_213 }), late: true, changed: ['email'] },
    });
  });

  it('is parsed as it was written, including undocumented fields', () => {
    fc.assert(
      fc.property(anyRecord, fc.jsonValue(), (read, extra) => {
        const written = JSON.stringify(sighting({ ...read, extra }));
        expect(certificationEventSchema.parse(JSON.parse(written))).toEqual(JSON.parse(written));
      }),
    );
  });

  it('has unsent fields as null or absent, and its identifiers always', () => {
    const { email: _, ...without } = assessment({ id: 48_213 });
    const nulls = { name: null, organization_id: null, assessment_name: null, results: null };
    const { data } = sighting({ ...without, ...nulls });
    expect(data.assessment).toStrictEqual({ ...without, ...nulls });
    const withdrawn = certificationEvent({
      type: 'certification.withdrawn',
      ...announced,
      assessment: { ...without, ...nulls },
    });
    expect(withdrawn.data.assessment).toStrictEqual({
      ...{ id: 48_213, organization_id: null, assessment_name: null },
      certified_on: without.certified_on,
    });
  });

  it('that has to be brief has the identifiers, and its mark if fields were left out', () => {
    const read = assessment({ id: 48_213 });
    const { id, organization_id, assessment_name, certified_on } = read;
    const identifiers = { id, organization_id, assessment_name, certified_on };
    const brief = (fields: 'all' | 'identifiers' | string[]) =>
      certificationEvent({
        ...announced,
        type: 'certification.updated',
        assessment: read,
        fields,
        changed: ['email'],
        brief: true,
      }).data;
    const remarks = { late: true, changed: ['email'] };
    expect(brief('all')).toEqual({ assessment: identifiers, ...remarks, truncated: true });
    expect(brief(['email'])).toEqual({ assessment: identifiers, ...remarks, truncated: true });
    expect(brief('identifiers')).toEqual({ assessment: identifiers, ...remarks });
  });

  it('that is a replay differs only by its mark', () => {
    const { data, ...envelope } = sighting(assessment());
    expect(sighting(assessment(), { replay: true })).toEqual({
      ...envelope,
      data: { ...data, replay: true },
    });
  });

  it('says in its attributes that it is a replay', () => {
    const replayOf = (event: ReturnType<typeof sighting>) => messageOf(event).attributes.replay;
    expect(replayOf(sighting(assessment()))?.StringValue).toBe('false');
    expect(replayOf(sighting(assessment(), { replay: true }))?.StringValue).toBe('true');
  });

  it('of a withdrawal has only the identifiers of its record', () => {
    const event = certificationEvent({
      type: 'certification.withdrawn',
      ...announced,
      assessment: assessment(),
      replay: true,
    });
    expect(event.type).toBe('certification.withdrawn');
    expect(event.data).toEqual({
      assessment: {
        id: 48_213,
        organization_id: 7,
        assessment_name: 'Rope Bridge Safety',
        certified_on: '2026-11-20',
      },
      late: true,
      changed: [],
      replay: true,
    });
  });
});

describe('a test event', () => {
  const time = Temporal.Instant.from('2026-11-21T08:00:04.120Z');
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
    const { organization_id, assessment_name, late } = messageOf(
      testEvent({ ...test, ...chosen }),
    ).attributes;
    expect([organization_id, assessment_name, late].map((it) => it?.StringValue)).toEqual([
      '7',
      'First Aid',
      'true',
    ]);
  });

  it('has a larger sequence than the one before, as the events of each subject', () => {
    const next = testEvent({ ...test, unique: 'a2', time: time.add({ milliseconds: 1 }) });
    expect(Number(next.sequence)).toBeGreaterThan(Number(testEvent(test).sequence));
  });
});
