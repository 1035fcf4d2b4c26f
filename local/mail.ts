import * as z from 'zod';

const notification = z
  .looseObject({ Subject: z.string().optional(), Message: z.string() })
  .transform(({ Subject = '', Message }) => ({ subject: Subject, text: Message }));

/** What somebody gets who is subscribed by e-mail. */
export type Mail = z.output<typeof notification>;

/** @param body SNS's JSON wrapper */
export const mailIn = (body: string): Mail => notification.parse(JSON.parse(body));
