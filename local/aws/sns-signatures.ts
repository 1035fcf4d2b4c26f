import { createHash, createSign, randomUUID } from 'node:crypto';
import type { buildApp } from 'fauxqs';
import * as z from 'zod';
import { originOfSns } from '../../consumer/sns-origin.ts';
import { jsonText } from '../../lambda/json-text.ts';

type Messaging = ReturnType<typeof buildApp>;

/** The embedded SNS puts this in place of a signature. */
const unsigned = 'EXAMPLE';

const notification = z.looseObject({
  Type: z.literal('Notification'),
  MessageId: z.string(),
  TopicArn: z.string(),
  Subject: z.string().optional(),
  Message: z.string(),
  Timestamp: z.string(),
  SignatureVersion: z.string(),
  Signature: z.literal(unsigned),
});
const notificationText = z.pipe(jsonText, notification);
const received = z.pipe(
  jsonText,
  z.looseObject({
    Messages: z.array(z.looseObject({ Body: z.string(), MD5OfBody: z.string() })).optional(),
  }),
);

/** AWS, "Verifying the signatures of Amazon SNS messages": the signed fields of a notification, in this order. */
const signedFields = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'] as const;

/** A name like those of SNS's certificates. */
const certificateName = `SimpleNotificationService-${randomUUID().replaceAll('-', '')}.pem`;

/** Made for the first signature. The key never leaves this process, and is stored nowhere. */
let made: Promise<{ readonly cert: string; readonly private: string }> | undefined;
const keyPair = () => {
  made ??= import('selfsigned').then(({ generate }) =>
    generate([{ name: 'commonName', value: 'SNS on this machine' }], { algorithm: 'sha256' }),
  );
  return made;
};

/**
 * Makes the embedded SNS sign as AWS's does, with SHA-256: each envelope that a queue hands out. The certificate has
 * the name that it would have at AWS.
 */
export function signNotifications(messaging: Messaging): void {
  messaging.get(`/${certificateName}`, async (_request, reply) => {
    reply.type('application/x-pem-file');
    return (await keyPair()).cert;
  });
  messaging.addHook('onSend', async (request, _reply, payload) =>
    request.headers['x-amz-target'] === 'AmazonSQS.ReceiveMessage' &&
    typeof payload === 'string' &&
    // Most answers have no envelope.
    payload.includes(unsigned)
      ? signedAnswer(payload)
      : payload,
  );
}

async function signedAnswer(payload: string): Promise<string> {
  const { data } = received.safeParse(payload);
  if (data?.Messages === undefined) return payload;
  const { private: key } = await keyPair();
  const Messages = data.Messages.map((message) => {
    const Body = signedBody(message.Body, key);
    return { ...message, Body, MD5OfBody: createHash('md5').update(Body).digest('hex') };
  });
  return JSON.stringify({ ...data, Messages });
}

/** The signature is the same at every reception. */
function signedBody(body: string, key: string): string {
  const { data: envelope } = notificationText.safeParse(body);
  if (envelope === undefined) return body;
  const signature = createSign('RSA-SHA256');
  for (const name of signedFields)
    if (envelope[name] !== undefined) signature.update(`${name}\n${envelope[name]}\n`);
  return JSON.stringify({
    ...envelope,
    SignatureVersion: '2',
    Signature: signature.sign(key, 'base64'),
    SigningCertURL: `${originOfSns(envelope.TopicArn)}/${certificateName}`,
  });
}
