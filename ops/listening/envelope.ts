import * as z from 'zod';
import { harmlessJson } from '../render/text.ts';

/** The characters that an HTTP header may hold. */
const word = z.string().regex(/^[!-~]+$/);

const envelopeSchema = z.looseObject({
  Type: z.literal('Notification'),
  MessageId: word,
  TopicArn: word,
  Message: z.string(),
});

const eventSchema = z.looseObject({ id: z.string(), type: z.string() });

/** The parts of SNS's envelope that are printed or sent as headers. */
export interface Envelope {
  readonly messageId: string;
  readonly topicArn: string;
  /** Undefined: the published text is no event. */
  readonly event: { readonly id: string; readonly type: string } | undefined;
}

/** @returns undefined if the body is no notification of SNS */
export function readEnvelope(body: string): Envelope | undefined {
  const envelope = envelopeSchema.safeParse(harmlessJson(body)).data;
  if (envelope === undefined) return undefined;
  const { MessageId, TopicArn, Message } = envelope;
  const event = eventSchema.safeParse(harmlessJson(Message)).data;
  return {
    messageId: MessageId,
    topicArn: TopicArn,
    event: event && { id: event.id, type: event.type },
  };
}
