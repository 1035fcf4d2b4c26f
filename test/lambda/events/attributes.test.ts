import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageOf } from '../../../lambda/events/sns-message.ts';
import { anyRecord, assessment } from '../../support/assessments.ts';
import { forAll } from '../../support/for-all.ts';
import { eventOf } from './announced.ts';

const attributesOf = (...of: Parameters<typeof eventOf>) => messageOf(eventOf(...of)).attributes;

describe('the message attributes of SNS', () => {
  it.each([
    [{ late: true }, { late: { DataType: 'String', StringValue: 'true' } }],
    [{ replay: true }, { replay: { DataType: 'String', StringValue: 'true' } }],
  ])('are those that filter policies are promised: %o', (more, changed) => {
    expect(attributesOf(assessment(), more)).toEqual({
      type: { DataType: 'String', StringValue: 'certification.created' },
      integration: { DataType: 'String', StringValue: 'district-a' },
      organization_id: { DataType: 'Number', StringValue: '7' },
      assessment_name: { DataType: 'String', StringValue: 'Rope Bridge Safety' },
      late: { DataType: 'String', StringValue: 'false' },
      replay: { DataType: 'String', StringValue: 'false' },
      ...changed,
    });
  });

  it('omit fields that the partner has not sent', () => {
    const nobody = { organization_id: null, assessment_name: null };
    const names = Object.keys(attributesOf({ ...assessment(), ...nobody }));
    expect(names).toEqual(['type', 'integration', 'late', 'replay']);
  });

  it("have the assessment's name as a withdrawal will have it, cut after 1,024 bytes", () => {
    const { assessment_name } = attributesOf(assessment({ assessment_name: 'é'.repeat(5_000) }));
    expect(assessment_name?.StringValue).toBe(`${'é'.repeat(510)}…`);
  });

  it('have no empty value and no character that SNS refuses', () => {
    const special = fc.constantFrom('', '\u0000\uFFFF', null);
    const names = fc.oneof(fc.string({ unit: 'binary' }), special);
    // The production `Char` of XML 1.0.
    const xml = /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]+$/u;
    forAll(anyRecord, names, (read, assessment_name) => {
      for (const { StringValue } of Object.values(attributesOf({ ...read, assessment_name })))
        expect(StringValue).toMatch(xml);
    });
  });
});
