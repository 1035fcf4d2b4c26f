import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shortName } from '../../../infra/config/words.ts';
import { type CertificationEvent, certificationEventSchema } from '../../../lambda/events/event.ts';
import { messageOf } from '../../../lambda/events/sns-message.ts';
import { anyAssessment, assessment } from '../../support/assessments.ts';
import { eventOf } from './announced.ts';

/** AWS: 256 KiB, body and attributes. */
const limit = 262_144;
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
  it.each([
    // SNS would drop a replay with the same id as a duplicate.
    [true, 'district-a/48213/3/replay'],
    [false, 'district-a/48213/3'],
  ])('are the subject within its integration, and the id of the event: %s', (replay, id) => {
    const { fifo } = messageOf(eventOf(assessment({ id: 48_213 }), { revision: 3, replay }));
    const MessageGroupId = 'district-a/48213';
    expect(fifo).toEqual({ MessageGroupId, MessageDeduplicationId: id });
  });

  it("are within AWS's limits for any name of the integration", () => {
    const integration = shortName.parse(`a${'-b'.repeat(19)}c`);
    const read = assessment({ id: Number.MAX_SAFE_INTEGER });
    const { fifo } = messageOf(eventOf(read, { integration, replay: true }));
    for (const one of Object.values(fifo))
      expect(one).toMatch(/^[a-zA-Z0-9!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]{1,128}$/);
  });
});

describe('an event too large for SNS', () => {
  const { results: _, ...rest } = assessment();
  const { id, organization_id, assessment_name, certified_on } = rest;
  const identifiers = { id, organization_id, assessment_name, certified_on };
  const huge = { ...assessment({ results: manyParts }), essay: large };

  it.each([
    ['its results', assessment({ results: manyParts }), rest],
    ['all fields except the identifiers if that is not enough', huge, identifiers],
  ])('loses %s, and is marked', (_, read, left) => {
    const data = { assessment: left, late: false, changed: ['results'], truncated: true };
    expect(eventOf(read, { changed: ['results'] }).data).toEqual(data);
  });

  it.each(['created', 'withdrawn'] as const)(
    'has the name of its assessment cut if even the identifiers are too large: %s',
    (kind) => {
      const read = assessment({ assessment_name: `Knots ${large}` });
      const event = eventOf(read, { type: `certification.${kind}` });
      expect(event.data.truncated).toBe(true);
      expect(event.data.assessment.assessment_name).toMatch(/^Knots é+…$/);
      expect(bytesOf(event)).toBeLessThan(10_000);
    },
  );

  it('is one of a byte more than 262,144, attributes included', () => {
    const withEmail = (length: number) => eventOf(assessment({ email: 'e'.repeat(length) }));
    const room = limit - bytesOf(withEmail(0));
    expect(bytesOf(withEmail(room))).toBe(limit);
    expect(withEmail(room).data.truncated).toBeUndefined();
    expect(withEmail(room + 1).data.truncated).toBe(true);
  });

  it('then fits with any record, and is parsed as it was written', () => {
    const huge = fc
      .tuple(
        fc.constantFrom('a', 'é', '語', '🪢', '"', '\u0000', '\uFFFF', '\uD800'),
        fc.integer({ min: 0, max: limit }),
      )
      .map(([unit, length]) => unit.repeat(length));
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

it('the body of an SNS message has only characters that a queue accepts', () => {
  const body = messageOf(eventOf(assessment({ name: 'a\u0000b\uFFFEc\uFFFFd\uD800e' }))).body;
  expect(body).toContain('"a\\u0000b\\ufffec\\uffffd\\ud800e"');
  expect(body).not.toMatch(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u);
});
