import type { CertificationEvent } from './event.ts';

export interface MessageAttribute {
  readonly DataType: 'String' | 'Number';
  readonly StringValue: string;
}

/**
 * The SNS message attributes of an event, for filter policies.
 *
 * At most ten, because raw delivery to SQS discards a message with more (AWS, "Amazon SNS raw
 * message delivery"). SNS refuses an empty value and characters that XML 1.0 does not allow, so an
 * empty one is left out and others are replaced; the body always has the record as it is.
 */
export function messageAttributes(event: CertificationEvent): Record<string, MessageAttribute> {
  const { assessment, late } = event.data;
  const attributes: Record<string, MessageAttribute> = {
    type: text(event.type),
    integration: text(integrationOf(event)),
    organization_id: { DataType: 'Number', StringValue: String(assessment.organization_id) },
    late: text(String(late)),
    replay: text('false'),
  };
  if (assessment.assessment_name !== '')
    attributes.assessment_name = text(assessment.assessment_name);
  return attributes;
}

function integrationOf(event: CertificationEvent): string {
  return event.source.slice(event.source.lastIndexOf(':') + 1);
}

const notInXml = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

function text(value: string): MessageAttribute {
  return { DataType: 'String', StringValue: value.replace(notInXml, '\u{FFFD}') };
}
