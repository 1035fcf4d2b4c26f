import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import { certificationEvent } from '../../../lambda/events/event.ts';
import { messageOf } from '../../../lambda/events/sns-message.ts';
import { anyRecord, assessment } from '../../support/assessments.ts';

function event(read: Assessment) {
  return certificationEvent({
    integration: 'district-a',
    type: 'certification.created',
    assessment: read,
    fields: 'all',
    revision: 1,
    changed: [],
    late: true,
    time: '2026-11-21T08:00:04.120Z',
  });
}

/** The production `Char` of XML 1.0. */
function allowedInXml(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || code >= 0x10000;
}

describe('the message attributes of SNS', () => {
  it('are those that filter policies are promised', () => {
    expect(messageOf(event(assessment())).attributes).toEqual({
      type: { DataType: 'String', StringValue: 'certification.created' },
      integration: { DataType: 'String', StringValue: 'district-a' },
      organization_id: { DataType: 'Number', StringValue: '7' },
      assessment_name: { DataType: 'String', StringValue: 'Rope Bridge Safety' },
      late: { DataType: 'String', StringValue: 'true' },
      replay: { DataType: 'String', StringValue: 'false' },
    });
  });

  it('omit fields that the partner has not sent', () => {
    const nobody = { organization_id: null, assessment_name: null };
    expect(Object.keys(messageOf(event({ ...assessment(), ...nobody })).attributes)).toEqual([
      ...['type', 'integration', 'late', 'replay'],
    ]);
  });

  it("have the assessment's name as a withdrawal will have it, cut after 1,024 bytes", () => {
    const { assessment_name } = messageOf(
      event(assessment({ assessment_name: 'é'.repeat(5_000) })),
    ).attributes;
    expect(assessment_name?.StringValue).toBe(`${'é'.repeat(510)}…`);
  });

  it('have no empty value and no character that SNS refuses, and are ten at most', () => {
    const names = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constant(''),
      fc.constant('\u0000\uFFFF'),
      fc.constant(null),
    );
    fc.assert(
      fc.property(anyRecord, names, (read, name) => {
        const attributes = Object.values(
          messageOf(event({ ...read, assessment_name: name })).attributes,
        );
        expect(attributes.length).toBeLessThanOrEqual(10);
        for (const { StringValue } of attributes) {
          expect(StringValue).not.toBe('');
          expect([...StringValue].filter((character) => !allowedInXml(character))).toEqual([]);
          expect(StringValue.isWellFormed()).toBe(true);
        }
      }),
    );
  });
});
