import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { integrationName } from '../../../infra/config/integration.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import {
  type CertificationEvent,
  certificationEvent,
  certificationEventSchema,
} from '../../../lambda/events/event.ts';
import { messageOf } from '../../../lambda/events/sns-message.ts';
import { anyAssessment, assessment } from '../../support/assessments.ts';

/** AWS: 256 KiB, body and attributes. */
const limit = 262_144;
const announced = {
  integration: 'district-a',
  late: false,
  time: '2026-11-21T08:00:04.120Z',
  revision: 2,
} as const;

const eventOf = (read: Assessment): CertificationEvent =>
  certificationEvent({
    ...announced,
    type: 'certification.updated',
    assessment: read,
    fields: 'all',
    changed: ['results'],
  });

/** Counts the bytes again, as AWS does. */
function bytesOf(event: CertificationEvent): number {
  const attributes = Object.entries(messageOf(event).attributes).flatMap(
    ([name, { DataType, StringValue }]) => [name, DataType, StringValue],
  );
  return new TextEncoder().encode([messageOf(event).body, ...attributes].join('')).length;
}

const part = assessment().results.slice(0, 1);
const manyParts = Array.from({ length: 3_000 }, () => part).flat();
const large = 'é'.repeat(limit / 2);

describe('the group and the deduplication id of a FIFO topic', () => {
  const sent = { ...announced, type: 'certification.created', fields: 'all', changed: [] } as const;
  const of = { ...sent, assessment: assessment({ id: 48_213 }), revision: 3 };

  it('are the subject within its integration, and the id of the event', () => {
    expect(messageOf(certificationEvent(of)).fifo).toEqual({
      MessageGroupId: 'district-a/48213',
      MessageDeduplicationId: 'district-a/48213/3',
    });
  });

  it("are within AWS's limits for any name of the integration", () => {
    const longest = `a${'-b'.repeat(19)}c`;
    expect(integrationName.parse(longest)).toBe(longest);
    const assessmentOf = assessment({ id: Number.MAX_SAFE_INTEGER });
    const event = certificationEvent({ ...of, integration: longest, assessment: assessmentOf });
    const replayed = messageOf({ ...event, data: { ...event.data, replay: true } });
    for (const one of Object.values(replayed.fifo))
      expect(one).toMatch(/^[a-zA-Z0-9!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]{1,128}$/);
  });

  it('differ for a replay, which SNS would otherwise drop as a duplicate', () => {
    const { fifo } = messageOf(certificationEvent({ ...of, replay: true }));
    expect(fifo.MessageDeduplicationId).toBe('district-a/48213/3/replay');
  });
});

describe('an event too large for SNS', () => {
  it('loses its results, and is marked', () => {
    const { results: _, ...rest } = assessment();
    expect(eventOf(assessment({ results: manyParts })).data).toEqual({
      assessment: rest,
      late: false,
      changed: ['results'],
      truncated: true,
    });
  });

  it('loses all fields except the identifiers if that is not enough', () => {
    const { id, organization_id, assessment_name, certified_on } = assessment();
    expect(eventOf({ ...assessment({ results: manyParts }), essay: large }).data).toEqual({
      assessment: { id, organization_id, assessment_name, certified_on },
      late: false,
      changed: ['results'],
      truncated: true,
    });
  });

  it('has the name of its assessment cut if even the identifiers are too large', () => {
    const event = eventOf(assessment({ assessment_name: `Knots ${large}` }));
    expect(event.data.truncated).toBe(true);
    expect(event.data.assessment.assessment_name).toMatch(/^Knots é+…$/);
    expect(bytesOf(event)).toBeLessThan(10_000);
  });

  it('may be a withdrawal, too', () => {
    const event = certificationEvent({
      type: 'certification.withdrawn',
      ...announced,
      assessment: assessment({ assessment_name: large }),
    });
    expect(event.data.truncated).toBe(true);
    expect(bytesOf(event)).toBeLessThan(10_000);
  });

  it('is one of a byte more than 262,144, attributes included', () => {
    const withEmail = (length: number) => eventOf(assessment({ email: 'e'.repeat(length) }));
    const room = limit - bytesOf(withEmail(0));
    expect(bytesOf(withEmail(room))).toBe(limit);
    expect(withEmail(room).data.truncated).toBeUndefined();
    expect(withEmail(room + 1).data.truncated).toBe(true);
  });

  it('then fits with any record, and is parsed as it was written', () => {
    const huge = fc
      .record({
        unit: fc.constantFrom('a', 'é', '語', '🪢', '"', '\u0000', '\uFFFF', '\uD800'),
        length: fc.integer({ min: 0, max: limit }),
      })
      .map(({ unit, length }) => unit.repeat(length));
    const field = fc.constantFrom('assessment_name', 'email', 'results', 'added_later');
    fc.assert(
      fc.property(anyAssessment, field, huge, (read, name, value) => {
        const filled =
          name === 'results' ? part.map((p) => ({ ...p, proctor_name: value })) : value;
        const event = eventOf({ ...read, [name]: filled });
        expect(bytesOf(event)).toBeLessThanOrEqual(limit);
        const body: unknown = JSON.parse(messageOf(event).body);
        expect(certificationEventSchema.parse(body)).toEqual(body);
        expect(event.data.assessment.id).toBe(read.id);
      }),
      { numRuns: 60 },
    );
  });
});

describe('the body of an SNS message', () => {
  it('is the event as JSON', () => {
    fc.assert(
      fc.property(anyAssessment, fc.string({ unit: 'binary' }), (read, name) => {
        const event = eventOf({ ...read, name });
        expect(JSON.parse(messageOf(event).body)).toEqual(JSON.parse(JSON.stringify(event)));
      }),
    );
  });

  it('has only characters that a queue accepts', () => {
    const body = messageOf(eventOf(assessment({ name: 'a\u0000b\uFFFEc\uFFFFd\uD800e' }))).body;
    expect(body).toContain('"a\\u0000b\\ufffec\\uffffd\\ud800e"');
    expect(body).not.toMatch(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u);
  });
});

describe('the bytes of an SNS message', () => {
  it('are those of its body and of the names, types and values of its attributes, in UTF-8', () => {
    const message = messageOf(eventOf(assessment({ assessment_name: 'é🪢' })));
    const { assessment_name, late } = message.attributes;
    expect(assessment_name).toEqual({ DataType: 'String', StringValue: 'é🪢' });
    expect(late).toEqual({ DataType: 'String', StringValue: 'false' });
    const { length } = new TextEncoder().encode(message.body);
    const others = { type: 4 + 21, integration: 11 + 10, organization_id: 15 + 1, replay: 6 + 5 };
    const types = 5 * 'String'.length + 'Number'.length;
    const named = others.type + others.integration + others.organization_id + others.replay;
    expect(message.bytes).toBe(length + types + named + (15 + 6) + (4 + 5));
  });

  it('are counted as AWS counts them, for any record', () => {
    fc.assert(
      fc.property(anyAssessment, (read) => {
        const event = eventOf(read);
        expect(messageOf(event).bytes).toBe(bytesOf(event));
      }),
    );
  });
});
