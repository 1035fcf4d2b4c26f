import { createSign, randomUUID } from 'node:crypto';
import { generate } from 'selfsigned';

export const topicArn = 'arn:aws:sns:us-east-1:111122223333:notifier-events';
export const certificateUrl =
  'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem';
const token = '2336412f37fb687f5d51e6e2425e';
export const subscribeUrl = `https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${topicArn}&Token=${token}`;

type Fields = Record<string, string>;

/** AWS, "Verifying the signatures of Amazon SNS messages": the signed fields, in this order. */
const ofConfirmation = 'Message MessageId SubscribeURL Timestamp Token TopicArn Type'.split(' ');
const signed: Record<string, readonly string[]> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ofConfirmation,
  UnsubscribeConfirmation: ofConfirmation,
};

/** A certificate made for this run, and messages signed with its key as SNS signs them. */
export class Signer {
  certificate = '';
  #key = '';

  static async create(): Promise<Signer> {
    const signer = new Signer();
    const names = [{ name: 'commonName', value: 'sns.amazonaws.com' }];
    const { cert, private: key } = await generate(names, { algorithm: 'sha256' });
    [signer.certificate, signer.#key] = [cert, key];
    return signer;
  }

  notification(message: string, change: Fields = {}): Fields {
    return this.sign({ Type: 'Notification', Message: message, ...change });
  }

  confirmation(change: Fields = {}): Fields {
    return this.sign({
      Type: 'SubscriptionConfirmation',
      Message: 'You have chosen to subscribe to the topic.',
      ...{ Token: token, SubscribeURL: subscribeUrl },
      ...change,
    });
  }

  /** Adds the fields that SNS adds, and signs them. */
  sign(fields: Fields): Fields {
    const message: Fields = {
      MessageId: randomUUID(),
      TopicArn: topicArn,
      Timestamp: new Date().toISOString(),
      SignatureVersion: '2',
      SigningCertURL: certificateUrl,
      ...fields,
    };
    const signature = createSign(message.SignatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256');
    for (const name of signed[message.Type ?? ''] ?? [])
      if (message[name] !== undefined) signature.update(`${name}\n${message[name]}\n`);
    return { ...message, Signature: signature.sign(this.#key, 'base64') };
  }
}
