import type { MessageAttributeValues } from './attributes-schema.ts';
import type { CertificationEvent } from './event.ts';
import { briefName } from './fields.ts';

export interface MessageAttribute {
  readonly DataType: 'String' | 'Number';
  readonly StringValue: string;
}

/**
 * The SNS message attributes of an event, for filter policies.
 *
 * What the platform has not sent is left out: no filter on it lets the event pass. SNS refuses an empty value and
 * characters that XML 1.0 does not allow, so an empty one is left out and others are replaced; the body always
 * has the record as it is.
 */
export function messageAttributes(event: CertificationEvent): Record<string, MessageAttribute> {
  const attributes: Record<string, MessageAttribute> = {};
  for (const [name, value] of Object.entries(attributeValues(event)))
    if (value !== undefined) attributes[name] = attributeOf(value);
  return attributes;
}

/** The attributes as `messageAttributesSchema` describes them. */
export function attributeValues(event: CertificationEvent): MessageAttributeValues {
  const { assessment, late, replay = false } = event.data;
  const name = briefName(assessment.assessment_name);
  return {
    type: event.type,
    integration: integrationOf(event),
    ...(assessment.organization_id !== null && { organization_id: assessment.organization_id }),
    ...(name && { assessment_name: name }),
    late: late ? 'true' : 'false',
    replay: replay ? 'true' : 'false',
  };
}

/** The bytes that AWS counts: names, types and values. */
export function attributeBytes(attributes: Readonly<Record<string, MessageAttribute>>): number {
  let bytes = 0;
  for (const [name, { DataType, StringValue }] of Object.entries(attributes))
    bytes += Buffer.byteLength(name) + DataType.length + Buffer.byteLength(StringValue);
  return bytes;
}

function attributeOf(value: string | number): MessageAttribute {
  return typeof value === 'number'
    ? { DataType: 'Number', StringValue: String(value) }
    : { DataType: 'String', StringValue: value.replace(notInXml, '\u{FFFD}') };
}

function integrationOf(event: CertificationEvent): string {
  return event.source.slice(event.source.lastIndexOf(':') + 1);
}

const notInXml = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;
