import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type SnsMessageRefusedError,
  SnsUnreachableError,
  type SnsVerification,
  verifySnsMessage,
} from '../../consumer/index.ts';
import { ManualClock } from '../scaffold/clock.ts';
import { certificateUrl, Signer, subscribeUrl, topicArn } from './signed-messages.ts';

const now = '2026-11-21T08:00:00.000Z';
const clock = new ManualClock(now);
let sns: Signer;
let stranger: Signer;
let asked: string[];
/** SNS's answers, by URL. */
let answers: Map<string, () => Response | Promise<Response>>;
let options: SnsVerification;

beforeAll(async () => {
  [sns, stranger] = await Promise.all([Signer.create(), Signer.create()]);
});
beforeEach(() => {
  asked = [];
  answers = new Map([
    [certificateUrl, () => new Response(sns.certificate)],
    [subscribeUrl(), () => new Response('<ConfirmSubscriptionResponse/>')],
  ]);
  options = {
    topicArns: topicArn,
    clock,
    fetch: async (url) => {
      asked.push(url);
      return answers.get(url)?.() ?? new Response('', { status: 403 });
    },
  };
});

type Body = Record<string, string>;
const at = (Timestamp: string) => ({ Timestamp });
const verify = (body: Body | string, change: Partial<SnsVerification> = {}) =>
  verifySnsMessage(typeof body === 'string' ? body : JSON.stringify(body), {
    ...options,
    ...change,
  });
const reasonOf = (body: Body | string, change: Partial<SnsVerification> = {}) =>
  verify(body, change).then(
    (message) => message.kind,
    (error: SnsMessageRefusedError) => error.reason,
  );

describe('a notification', () => {
  it('with a signature of version 2 is returned as published', async () => {
    const signed = sns.notification('{"a":"ünï\\n"}', at(now));
    expect(await verify(signed)).toEqual({
      kind: 'notification',
      topicArn,
      messageId: signed.MessageId,
      message: '{"a":"ünï\\n"}',
    });
  });

  it('with a signature of version 1 is accepted only on request', async () => {
    const signed = sns.notification('x', { ...at(now), SignatureVersion: '1' });
    expect(await reasonOf(signed)).toBe('signature-version');
    expect(asked).toEqual([]);
    expect(await reasonOf(signed, { signatureVersions: ['1', '2'] })).toBe('notification');
    const renamed = { ...signed, SignatureVersion: '2' };
    expect(await reasonOf(renamed)).toBe('signature');
  });

  it('of version 2 is refused if only version 1 is accepted', async () => {
    const signed = sns.notification('x', at(now));
    expect(await reasonOf(signed, { signatureVersions: ['1'] })).toBe('signature-version');
  });

  it('may have a subject, which is signed, too', async () => {
    const signed = sns.notification('x', { ...at(now), Subject: 'Two\nlines' });
    expect(await reasonOf(signed)).toBe('notification');
    expect(await reasonOf({ ...signed, Subject: 'other' })).toBe('signature');
  });

  it('is read from bytes, too', async () => {
    const bytes = Buffer.from(JSON.stringify(sns.notification('x', at(now))));
    expect(await verifySnsMessage(bytes, options)).toMatchObject({ message: 'x' });
  });

  it('may be of any of several topics', async () => {
    const other = 'arn:aws:sns:us-east-1:111122223333:others';
    const signed = sns.notification('x', { ...at(now), TopicArn: other });
    expect(await reasonOf(signed)).toBe('topic');
    expect(await reasonOf(signed, { topicArns: [topicArn, other] })).toBe('notification');
  });

  it.each(['Message', 'MessageId', 'Timestamp', 'SigningCertURL'])(
    'whose %s was changed is refused',
    async (name) => {
      const other =
        name === 'SigningCertURL'
          ? certificateUrl.replace('0123', 'aaaa')
          : `${now.slice(0, -5)}.001Z`;
      answers.set(other, () => new Response(stranger.certificate));
      expect(await reasonOf({ ...sns.notification('x', at(now)), [name]: other })).toBe(
        'signature',
      );
    },
  );

  it('signed by a stranger is refused', async () => {
    expect(await reasonOf(stranger.notification('x', at(now)))).toBe('signature');
  });

  it.each([
    'http://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem',
    'https://sns.us-east-1.amazonaws.com.evil.example/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem',
    'https://evil.example/sns.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem',
    'https://sns.us-east-1.amazonaws.com@evil.example/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem',
    'https://sns.us-east-1.amazonaws.com:8443/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem',
    'https://s3.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem',
    'https://sns.us-east-1.amazonaws.com/bucket/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem',
    // Two buckets of S3, which anybody may have.
    'https://sns.s3-us-west-2.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem',
    'https://sns.s3.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem',
    // Hosts of SNS in another region or partition than the topic's.
    'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem',
    'https://sns.us-east-1.amazonaws.com.cn/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem',
    'file:///etc/passwd',
  ])('with a certificate at %s is refused, without a request for it', async (SigningCertURL) => {
    const signed = stranger.notification('x', { ...at(now), SigningCertURL });
    answers.set(SigningCertURL, () => new Response(stranger.certificate));
    expect(await reasonOf(signed)).toBe('certificate-url');
    expect(asked).toEqual([]);
  });

  it.each([
    ['aws-cn', 'cn-north-1', 'amazonaws.com.cn'],
    ['aws-eusc', 'eusc-de-east-1', 'amazonaws.eu'],
    ['aws-us-gov', 'us-gov-west-1', 'amazonaws.com'],
  ])('of a topic of %s has a certificate from there', async (partition, region, domain) => {
    const TopicArn = `arn:${partition}:sns:${region}:111122223333:notifier-events`;
    const SigningCertURL = certificateUrl.replace('us-east-1.amazonaws.com', `${region}.${domain}`);
    answers.set(SigningCertURL, () => new Response(sns.certificate));
    const signed = sns.notification('x', { ...at(now), TopicArn, SigningCertURL });
    expect(await reasonOf(signed, { topicArns: TopicArn })).toBe('notification');
  });

  it('of another topic is refused before any download', async () => {
    const TopicArn = 'arn:aws:sns:us-east-1:444455556666:notifier-events';
    expect(await reasonOf(sns.notification('x', { ...at(now), TopicArn }))).toBe('topic');
    expect(asked).toEqual([]);
  });

  it.each([
    ['2026-11-21T07:00:00.000Z', 'notification'],
    ['2026-11-21T06:59:59.999Z', 'too-old'],
    ['2026-11-21T08:05:00.000Z', 'notification'],
    ['2026-11-21T08:05:00.001Z', 'from-the-future'],
  ])('sent at %s is accepted at eight o’clock: %s', async (sent, expected) => {
    expect(await reasonOf(sns.notification('x', at(sent)))).toBe(expected);
  });

  it('may be as old as the receiver allows', async () => {
    const signed = sns.notification('x', at('2026-11-21T07:50:00.000Z'));
    expect(await reasonOf(signed, { maxAge: { minutes: 9 } })).toBe('too-old');
    expect(await reasonOf(signed, { maxAge: { minutes: 10 } })).toBe('notification');
  });

  it('that is too large is refused unread', async () => {
    expect(await reasonOf('{'.repeat(1_048_577))).toBe('too-large');
    expect(await reasonOf('x'.repeat(101), { maxBytes: 100 })).toBe('too-large');
  });

  it.each([
    ['no JSON', 'Odalys'],
    ['no object', '[]'],
    ['no such type', JSON.stringify({ Type: 'Other' })],
    ['a field that is no text', JSON.stringify({ Type: 'Notification', Message: {} })],
  ])('that is %s is malformed, and the error holds no value', async (_, body) => {
    const error = await verify(body).catch((error) => error);
    expect(error).toMatchObject({ reason: 'malformed' });
    expect(`${error}${error.cause}`).not.toContain('Odalys');
  });

  it('cannot be split into other fields than the signed ones', async () => {
    const { Subject: _, ...signed } = sns.notification('first', at(now));
    // The signed text is the same: Message, then MessageId within Message, and so on.
    const recut = {
      ...signed,
      Message: `first\nMessageId\n${signed.MessageId}`,
      MessageId: undefined,
    };
    expect(await reasonOf(JSON.stringify(recut))).toBe('malformed');
    const stretched = sns.notification('a', {
      ...at(now),
      TopicArn: `${topicArn}\nType\nNotification`,
    });
    expect(await reasonOf(stretched)).toBe('malformed');
  });
});

describe('the certificate of SNS', () => {
  it('is downloaded once', async () => {
    await Promise.all([1, 2, 3].map(() => verify(sns.notification('x', at(now)))));
    await verify(sns.notification('y', at(now)));
    expect(asked).toEqual([certificateUrl]);
  });

  it.each([
    ['an error', () => new Response(sns.certificate, { status: 503 })],
    ['a page that is no certificate', () => new Response('<html>Back soon</html>')],
    ['a text larger than any certificate', () => new Response(sns.certificate.padEnd(20_000))],
    ['a broken connection', () => Promise.reject(new TypeError('fetch failed'))],
  ])(
    'that is %s is not cached: the message may come again, and is then verified',
    async (_, answer) => {
      const signed = sns.notification('x', at(now));
      answers.set(certificateUrl, answer);
      await expect(verify(signed)).rejects.toThrow(SnsUnreachableError);
      answers.set(certificateUrl, () => new Response(sns.certificate));
      expect(await reasonOf(signed)).toBe('notification');
    },
  );

  it('is requested again after strangers have named many others', async () => {
    await verify(sns.notification('x', at(now)));
    for (let n = 0; n < 60; n += 1) {
      const url = certificateUrl.replace('0123', String(1000 + n));
      answers.set(url, () => new Response(stranger.certificate));
      await reasonOf(sns.notification('x', { ...at(now), SigningCertURL: url }));
    }
    expect(await reasonOf(sns.notification('x', at(now)))).toBe('notification');
    expect(asked.filter((url) => url === certificateUrl)).toHaveLength(2);
  });
});

describe('a subscription', () => {
  it('to an expected topic is confirmed', async () => {
    expect(await verify(sns.confirmation(at(now)))).toEqual({
      kind: 'subscription',
      topicArn,
      confirmed: true,
    });
    expect(asked).toEqual([certificateUrl, subscribeUrl()]);
  });

  it('is only reported if another program confirms', async () => {
    expect(await verify(sns.confirmation(at(now)), { confirm: false })).toMatchObject({
      confirmed: false,
    });
    expect(asked).toEqual([certificateUrl]);
  });

  it('to another topic is not confirmed', async () => {
    const TopicArn = 'arn:aws:sns:us-east-1:444455556666:theirs';
    expect(await reasonOf(sns.confirmation({ ...at(now), TopicArn }))).toBe('topic');
    expect(asked).toEqual([]);
  });

  it.each([
    ['another host', subscribeUrl({ host: 'evil.example' })],
    ['the instance’s metadata', subscribeUrl({ host: '169.254.169.254' })],
    [
      "a host that begins like SNS's",
      subscribeUrl({ host: 'sns.us-east-1.amazonaws.com.evil.example' }),
    ],
    ['another region', subscribeUrl({ host: 'sns.eu-west-1.amazonaws.com' })],
    ['another port', subscribeUrl({ host: 'sns.us-east-1.amazonaws.com:22' })],
    ['credentials', subscribeUrl({ host: 'user:word@sns.us-east-1.amazonaws.com' })],
    ['a user', subscribeUrl({ host: 'user@sns.us-east-1.amazonaws.com' })],
    ['another path', subscribeUrl().replace('/?', '/bucket/?')],
    ['no TLS', subscribeUrl({ protocol: 'http' })],
    ['another topic', subscribeUrl({ arn: 'arn:aws:sns:us-east-1:444455556666:theirs' })],
    ['another action', subscribeUrl({ action: 'DeleteTopic' })],
    ['two actions', `${subscribeUrl()}&Action=DeleteTopic`],
    ['no URL', 'confirm'],
  ])('with a URL that has %s is not confirmed, even if it is signed', async (_, SubscribeURL) => {
    expect(await reasonOf(sns.confirmation({ ...at(now), SubscribeURL }))).toBe('subscribe-url');
    expect(asked).toEqual([certificateUrl]);
  });

  it('comes again if SNS does not answer its confirmation', async () => {
    answers.set(subscribeUrl(), () => new Response('', { status: 500 }));
    await expect(verify(sns.confirmation(at(now)))).rejects.toThrow(SnsUnreachableError);
  });

  it('does not follow a redirect', async () => {
    let init: RequestInit = {};
    const fetch = async (_: string, given: RequestInit) => {
      init = given;
      return new Response(sns.certificate);
    };
    await verify(sns.confirmation(at(now)), { fetch });
    expect(init.redirect).toBe('error');
  });

  it('that was ended is reported, and not begun again', async () => {
    const ended = sns.confirmation({ ...at(now), Type: 'UnsubscribeConfirmation' });
    expect(await verify(ended)).toEqual({ kind: 'unsubscription', topicArn });
    expect(asked).toEqual([certificateUrl]);
  });

  it('that a stranger ended is refused', async () => {
    const ended = stranger.confirmation({ ...at(now), Type: 'UnsubscribeConfirmation' });
    expect(await reasonOf(ended)).toBe('signature');
  });
});
