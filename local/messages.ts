import * as z from 'zod';
import { type CertificationEvent, certificationEventSchema } from '../lambda/events/event.ts';

const notification = z
  .looseObject({ Subject: z.string().optional(), Message: z.string() })
  .transform(({ Subject = '', Message }) => ({ subject: Subject, text: Message }));

/** The mail of a subscriber by e-mail. */
export type Mail = z.output<typeof notification>;

/** @param body SNS's JSON wrapper */
export const mailIn = (body: string): Mail => notification.parse(JSON.parse(body));

/** @param body as it was published */
export const eventIn = (body: string): CertificationEvent =>
  certificationEventSchema.parse(JSON.parse(body));
