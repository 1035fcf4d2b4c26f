import * as z from 'zod';
import { type CertificationEvent, certificationEventSchema } from '../lambda/events/event.ts';
import { jsonText } from '../lambda/json-text.ts';

const notification = z
  .looseObject({ Subject: z.string().optional(), Message: z.string() })
  .transform(({ Subject = '', Message }) => ({ subject: Subject, text: Message }));

const mailText = z.pipe(jsonText, notification);
const eventText = z.pipe(jsonText, certificationEventSchema);

/** A message as a subscriber by e-mail gets it. */
export type Mail = z.output<typeof notification>;

/** @param body in SNS's JSON envelope; undefined: it is something else, since anybody may write to a queue */
export const mailIn = (body: string): Mail | undefined => mailText.safeParse(body).data;

/** @param body without an envelope; undefined: it is no event, since anybody may publish to a topic */
export const eventIn = (body: string): CertificationEvent | undefined =>
  eventText.safeParse(body).data;
