import { createHash } from 'node:crypto';
import type { CertificationEvent } from '../events/event.ts';

/**
 * What a FIFO topic or queue orders and deduplicates by.
 * Order is kept within a subject of an integration; an event is delivered once within five minutes.
 * A replay is another message: SNS would accept it within these minutes and not deliver it.
 */
export function fifoIds({ id, subject, data }: CertificationEvent) {
  const integration = id.slice(0, id.indexOf('/'));
  return {
    MessageGroupId: allowed(`${integration}/${subject}`),
    MessageDeduplicationId: allowed(data.replay ? `${id}/replay` : id),
  };
}

/** AWS: "up to 128 alphanumeric characters (a-z, A-Z, 0-9) and punctuation", so none but printable ASCII. */
const pattern = /^[\x21-\x7E]{1,128}$/;

/** The text itself, or, where AWS would refuse it, a digest: equal for equal texts. */
function allowed(text: string): string {
  return pattern.test(text) ? text : createHash('sha256').update(text).digest('base64url');
}
