import type { MessageAttributeValues } from './attributes-schema.ts';
import type { CertificationEvent } from './event.ts';
import { briefName } from './fields.ts';

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
}

export interface MessageAttribute {
  readonly DataType: 'String' | 'Number';
  readonly StringValue: string;
}

/**
 * The two characters that JSON allows and a queue refuses (SendMessage: U+FFFE and U+FFFF are not among the characters
 * of XML 1.0) are escaped in the body. In an attribute, a character that XML 1.0 does not allow is replaced; the body
 * always has the record as it is.
 */
export function messageOf(event: CertificationEvent): EventMessage {
  const body = JSON.stringify(event).replace(/[\uFFFE\uFFFF]/g, (character) =>
    character === '\uFFFE' ? '\\ufffe' : '\\uffff',
  );
  const attributes: Record<string, MessageAttribute> = {};
  let bytes = Buffer.byteLength(body);
  for (const [name, value] of Object.entries(attributeValues(event))) {
    const DataType = typeof value === 'number' ? 'Number' : 'String';
    const StringValue = String(value).replace(notInXml, '\u{FFFD}');
    attributes[name] = { DataType, StringValue };
    bytes += Buffer.byteLength(name) + DataType.length + Buffer.byteLength(StringValue);
  }
  return { body, attributes, bytes };
}

/**
 * The attributes as `messageAttributesSchema` describes them. What the partner has not sent is left out, as is an empty
 * name, which SNS refuses: no filter on it lets the event pass.
 */
export function attributeValues({
  type,
  source,
  data,
}: CertificationEvent): MessageAttributeValues {
  const { assessment, late, replay = false } = data;
  const name = briefName(assessment.assessment_name);
  return {
    type,
    integration: source.slice(source.lastIndexOf(':') + 1),
    ...(assessment.organization_id !== null && { organization_id: assessment.organization_id }),
    ...(name && { assessment_name: name }),
    late: late ? 'true' : 'false',
    replay: replay ? 'true' : 'false',
  };
}

const notInXml = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;
