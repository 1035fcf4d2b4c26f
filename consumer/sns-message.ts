import * as z from 'zod/mini';
import { SnsMessageRefusedError } from './errors.ts';

/** 1: SHA-1, with which SNS signs unless its topic says otherwise; 2: SHA-256. */
const signatureVersions = ['1', '2'] as const;

export type SignatureVersion = (typeof signatureVersions)[number];

const line = z.string().check(z.regex(/^[^\r\n]+$/));

/**
 * The signed fields, without values that could be read as other fields. The signed text is one line
 * each of name and value, so a value of several lines could pass for other fields. `Message` and
 * `Subject` may have several.
 */
const common = {
  MessageId: line,
  TopicArn: line,
  Message: z.string(),
  Timestamp: z.iso.datetime(),
  SignatureVersion: z.enum(signatureVersions),
  Signature: z.base64(),
  SigningCertURL: line,
};

const confirmation = { ...common, Token: line, SubscribeURL: line };

/** AWS, "Parsing Amazon SNS message formats": the three that an HTTPS endpoint gets. */
const snsMessageSchema = z.discriminatedUnion('Type', [
  z.object({ ...common, Type: z.literal('Notification'), Subject: z.exactOptional(z.string()) }),
  z.object({ ...confirmation, Type: z.literal('SubscriptionConfirmation') }),
  z.object({ ...confirmation, Type: z.literal('UnsubscribeConfirmation') }),
]);

export type SnsMessage = z.infer<typeof snsMessageSchema>;

/** @throws SnsMessageRefusedError */
export function readSnsMessage(body: string | Uint8Array, maxBytes: number): SnsMessage {
  const size = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  if (size > maxBytes) throw new SnsMessageRefusedError('too-large');
  const { data } = snsMessageSchema.safeParse(parsed(body));
  if (data === undefined) throw new SnsMessageRefusedError('malformed');
  return data;
}

function parsed(body: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString('utf8'));
  } catch {
    // Without the cause: a SyntaxError quotes its input.
    throw new SnsMessageRefusedError('malformed');
  }
}
