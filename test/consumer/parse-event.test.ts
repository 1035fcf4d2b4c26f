import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NotAnEventError, parseEvent } from '../../consumer/index.ts';
import { anyEvent, event } from './events.ts';

const envelope = (Message: string) => ({
  ...{ Type: 'Notification', MessageId: 'm', TopicArn: 'arn:aws:sns:us-east-1:1:events', Message },
  ...{ Timestamp: '2026-11-21T08:00:05.000Z', Signature: 'AAAA' },
});
const sqsRecord = (body: string) => ({ messageId: 'm', body, eventSource: 'aws:sqs' });
const snsRecord = (message: string) => ({
  EventSource: 'aws:sns',
  Sns: { ...envelope(message), Subject: null, MessageAttributes: {} },
});
const busEvent = (text: string) => ({
  ...{
    version: '0',
    id: 'e',
    'detail-type': 'certification.created',
    source: 'urn:x',
    account: '1',
  },
  ...{ time: '2026-11-21T08:00:05Z', region: 'us-east-1', resources: [], detail: JSON.parse(text) },
});

const wrappings: Record<string, (text: string) => unknown> = {
  'the raw body of an SQS message': (text) => text,
  'the body of an SQS message in an envelope of SNS': (text) => JSON.stringify(envelope(text)),
  'a raw SQS message of the SDK': (text) => ({ MessageId: 'm', ReceiptHandle: 'r', Body: text }),
  'a raw SQS record': sqsRecord,
  'an SQS record with an envelope of SNS': (text) => sqsRecord(JSON.stringify(envelope(text))),
  'an SNS record': snsRecord,
  'an SNS record in an SQS record': (text) => sqsRecord(JSON.stringify(snsRecord(text))),
  'an HTTPS body as text': (text) => JSON.stringify(envelope(text)),
  'an HTTPS body as bytes': (text) => Buffer.from(JSON.stringify(envelope(text))),
  'an HTTPS body as parsed by a framework': envelope,
  'an event of EventBridge': busEvent,
  'an SQS record with an event of EventBridge': (text) => sqsRecord(JSON.stringify(busEvent(text))),
  'the event itself': (text) => JSON.parse(text),
  'as many wrappings as are looked through': (text) => nested(8, JSON.parse(text)),
};

const thrownBy = (message: unknown) => {
  try {
    return parseEvent(message);
  } catch (error) {
    return error;
  }
};

describe('parseEvent', () => {
  it.each(Object.entries(wrappings))('finds the same event in %s', (_, wrap) => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const text = JSON.stringify(event);
        expect(parseEvent(wrap(text))).toEqual(JSON.parse(text));
      }),
      { numRuns: 50 },
    );
  });

  it('keeps unknown fields, at any place', () => {
    const { data, ...rest } = event();
    const assessment = { ...data.assessment, grade: 'A' };
    const grown = { ...rest, traceparent: '00-01', data: { ...data, reason: 'x', assessment } };
    expect(parseEvent(JSON.stringify(grown))).toEqual(grown);
  });

  const dataschema = 'urn:certification-notifier:schema:certification-event:2';
  it.each([
    ['a type', { type: 'certification.merged' }],
    ['a version of the data', { dataschema }],
  ])('recognizes an event of a later version by %s, and does not throw', (_, change) => {
    const later = { ...event(), ...change, data: { anything: true } };
    expect(parseEvent(JSON.stringify(later))).toEqual({
      type: 'unknown',
      announced: later.type,
      id: 'district-a/48213/1',
      source: 'urn:certification-notifier:district-a',
      subject: '48213',
      sequence: '1',
      event: later,
    });
  });

  it.each([
    ['text', 'Odalys has passed'],
    ['an event of another source', JSON.stringify({ ...event(), source: 'urn:elsewhere' })],
    ['an event without its data', JSON.stringify({ ...event(), data: {} })],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0xfd])],
    ['a whole invocation', { Records: [sqsRecord('{}')] }],
    ['nothing', undefined],
    ['one wrapping more', nested(9, event())],
  ])('refuses %s with its own error, without the values', (_, message) => {
    const error = thrownBy(message);
    expect(error).toBeInstanceOf(NotAnEventError);
    expect(String(error)).not.toMatch(/Odalys|elsewhere/);
  });

  it('names the mistake, and not the value', () => {
    const { data, ...rest } = event();
    const broken = { ...rest, data: { ...data, assessment: { ...data.assessment, id: 'Odalys' } } };
    expect(`${thrownBy(broken)}`).toMatch(/: data\.assessment\.id: (?!.*Odalys)/);
  });

  it('throws only its own error, for any input', () => {
    const [any, json] = [fc.anything(), fc.json()];
    const near = fc.oneof(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withTypedArray: true }),
      json,
      fc.record({ body: json }),
      fc.record({ Message: fc.oneof(json, fc.string()), Type: fc.string() }),
      fc.record({ Sns: any }),
      fc.record({ specversion: fc.constant('1.0'), type: any, source: any, data: any }),
      fc.uint8Array(),
    );
    const refused = fc.property(near, (garbage) => thrownBy(garbage) instanceof NotAnEventError);
    fc.assert(refused, { numRuns: 1_000 });
  });
});

function nested(times: number, content: unknown): unknown {
  return times === 0 ? content : { Sns: nested(times - 1, content) };
}
