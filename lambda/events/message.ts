import { attributeBytes, messageAttributes } from './attributes.ts';
import type { CertificationEvent } from './event.ts';

/** AWS: the most that SNS takes in one message, its attributes included. */
const maxMessageBytes = 262_144;

/**
 * The body of the SNS message: JSON. The two characters that JSON allows and a queue refuses
 * (SendMessage: U+FFFE and U+FFFF are not among the characters of XML 1.0) are escaped.
 */
export function messageBody(event: CertificationEvent): string {
  return JSON.stringify(event).replace(/[\uFFFE\uFFFF]/g, (character) =>
    character === '\uFFFE' ? '\\ufffe' : '\\uffff',
  );
}

/** Whether SNS takes the event as one message. */
export function fitsMessage(event: CertificationEvent): boolean {
  const body = Buffer.byteLength(messageBody(event));
  return body + attributeBytes(messageAttributes(event)) <= maxMessageBytes;
}
