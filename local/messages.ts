import * as z from 'zod';
import { type CertificationEvent, certificationEventSchema } from '../lambda/events/event.ts';

const notification = z
  .looseObject({ Subject: z.string().optional(), Message: z.string() })
  .transform(({ Subject = '', Message }) => ({ subject: Subject, text: Message }));

/** A message as a subscriber by e-mail gets it. */
export type Mail = z.output<typeof notification>;

/** @param body in SNS's JSON envelope */
export const mailIn = (body: string): Mail => notification.parse(JSON.parse(body));

/** @param body without an envelope */
export const eventIn = (body: string): CertificationEvent =>
  certificationEventSchema.parse(JSON.parse(body));
