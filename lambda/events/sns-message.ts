import * as z from 'zod/mini';
import { type Assessment, described } from './assessment.ts';

/** AWS: the most that SNS takes in one message, its attributes included. */
export const maxMessageBytes = 262_144;

/** An event as SNS and SQS take it. */
export interface EventMessage {
  /** JSON. */
  readonly body: string;
  /** For filter policies. */
  readonly attributes: Readonly<Record<string, MessageAttribute>>;
  /** The bytes that AWS counts: of the body, and of the names, types and values of the attributes. */
  readonly bytes: number;
  /**
   * For a FIFO topic or queue. Order is kept within a subject of an integration; an event is
   * delivered once within five minutes. A replay has another deduplication id: otherwise SNS would
   * accept it within these minutes and not deliver it.
   */
  readonly fifo: { readonly MessageGroupId: string; readonly MessageDeduplicationId: string };
}

/** The parts of an event from which its attributes follow. */
interface Attributed extends Readonly<Record<'id' | 'type' | 'source', string>> {
  readonly data: {
    readonly assessment: Pick<Assessment, 'assessment_name' | 'organization_id'>;
    readonly late: boolean;
    readonly replay?: boolean | undefined;
  };
}

export interface MessageAttribute {
  readonly DataType: 'String' | 'Number';
  readonly StringValue: string;
}

const yesOrNo = () => z.enum(['true', 'false']);

/**
 * The attributes for filter policies. At most ten, because raw delivery to SQS discards a message
 * with more (AWS, "Amazon SNS raw message delivery").
 */
export const messageAttributesSchema = described(
  z.object({
    type: described(z.string(), '`type` of the event.'),
    integration: described(z.string(), 'Name of the integration that the event comes from.'),
    organization_id: described(
      z.optional(z.int()),
      '`data.assessment.organization_id`; a Number to SNS; absent when it is null.',
    ),
    assessment_name: described(
      z.optional(z.string().check(z.minLength(1))),
      '`data.assessment.assessment_name`, cut after 1,024 bytes; absent when it is empty or null.',
    ),
    late: described(yesOrNo(), '`data.late`.'),
    replay: described(yesOrNo(), 'Whether the event was sent before and is sent again on request.'),
  }),
  'SNS message attributes, for filter policies.',
  'MessageAttributes',
);

/**
 * JSON allows two characters that a queue refuses (SendMessage: U+FFFE and U+FFFF are not among the
 * characters of XML 1.0). The body has them escaped. In an attribute, a character that XML 1.0 does
 * not allow is replaced; the body always has the record as it is.
 *
 * An attribute that the partner has not sent is left out, and so is an empty name, which SNS
 * refuses. No filter on it lets the event pass.
 */
export function messageOf(event: Attributed): EventMessage {
  const { id, type, source, data } = event;
  const { assessment, late, replay = false } = data;
  const body = JSON.stringify(event).replace(/[\uFFFE\uFFFF]/g, (character) =>
    character === '\uFFFE' ? '\\ufffe' : '\\uffff',
  );
  const name = briefName(assessment.assessment_name);
  const values: z.infer<typeof messageAttributesSchema> = {
    type,
    integration: source.slice(source.lastIndexOf(':') + 1),
    ...(assessment.organization_id !== null && { organization_id: assessment.organization_id }),
    ...(name && { assessment_name: name }),
    late: late ? 'true' : 'false',
    replay: replay ? 'true' : 'false',
  };
  const attributes: Record<string, MessageAttribute> = {};
  let bytes = Buffer.byteLength(body);
  for (const [name, value] of Object.entries(values)) {
    const DataType = typeof value === 'number' ? 'Number' : 'String';
    const StringValue = String(value).replace(notInXml, '\u{FFFD}');
    attributes[name] = { DataType, StringValue };
    bytes += Buffer.byteLength(name) + DataType.length + Buffer.byteLength(StringValue);
  }
  const MessageGroupId = id.slice(0, id.lastIndexOf('/'));
  const MessageDeduplicationId = replay ? `${id}/replay` : id;
  return { body, attributes, bytes, fifo: { MessageGroupId, MessageDeduplicationId } };
}

const notInXml = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** UTF-8 bytes: four for each of 256 characters. */
const maxNameBytes = 1_024;

/**
 * Cuts a name for places with little room (a message attribute, the ledger's item, an event that is
 * too large): at most 1,024 bytes of UTF-8, with an ellipsis where it was cut.
 */
export function briefName<Name extends string | null>(name: Name): Name | string {
  if (name === null || Buffer.byteLength(name) <= maxNameBytes) return name;
  const kept = new Uint8Array(maxNameBytes - Buffer.byteLength('…'));
  return `${name.slice(0, new TextEncoder().encodeInto(name, kept).read)}…`;
}
