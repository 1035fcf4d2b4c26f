import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type SnsMessageRefusedError,
  type SnsVerification,
  verifySnsMessage,
} from '../../consumer/index.ts';
import { ManualClock } from '../scaffold/clock.ts';
import { certificateUrl, Signer, subscribeUrl, topicArn } from './signed-messages.ts';

const now = '2026-11-21T08:00:00.000Z';
const clock = new ManualClock(now);
const [sns, stranger] = await Promise.all([Signer.create(), Signer.create()]);
let asked: string[];
/** SNS's answers, by URL. */
let answers: Map<string, () => Response | Promise<Response>>;
let options: SnsVerification;

beforeEach(() => {
  asked = [];
  answers = new Map([
    [certificateUrl, () => new Response(sns.certificate)],
    [subscribeUrl, () => new Response('<ConfirmSubscriptionResponse/>')],
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
const verify = (body: Body | string, change: Partial<SnsVerification> = {}) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return verifySnsMessage(text, { ...options, ...change });
};
const reasonOf = (body: Body | string, change: Partial<SnsVerification> = {}) =>
  verify(body, change).then(
    (message) => message.kind,
    (error: SnsMessageRefusedError) => error.reason,
  );

const foreignArn = 'arn:aws:sns:us-east-1:444455556666:theirs';
const onHost = (host: string) => certificateUrl.replace('sns.us-east-1.amazonaws.com', host);

describe('a notification', () => {
  it('is returned as published, from text and from bytes', async () => {
    const signed = sns.notification('{"a":"ünï\\n"}', at(now));
    const { MessageId: messageId, Message: message } = signed;
    const verified = { kind: 'notification', topicArn, messageId, message };
    expect(await verify(signed)).toEqual(verified);
    expect(await verifySnsMessage(Buffer.from(JSON.stringify(signed)), options)).toEqual(verified);
  });

  const tenTo8 = '2026-11-21T07:50:00.000Z';
  it.each<[string, Body, Partial<SnsVerification>, string]>([
    ['of version 1', { SignatureVersion: '1' }, {}, 'signature-version'],
    ['of version 1', { SignatureVersion: '1' }, { signatureVersions: ['1', '2'] }, 'notification'],
    ['of version 2', {}, { signatureVersions: ['1'] }, 'signature-version'],
    ['with a subject', { Subject: 'Two\nlines' }, {}, 'notification'],
    ['of another topic', { TopicArn: foreignArn }, {}, 'topic'],
    ['of several', { TopicArn: foreignArn }, { topicArns: [topicArn, foreignArn] }, 'notification'],
    ['of an hour ago', at('2026-11-21T07:00:00.000Z'), {}, 'notification'],
    ['of more than an hour ago', at('2026-11-21T06:59:59.999Z'), {}, 'too-old'],
    ['of in 5 minutes', at('2026-11-21T08:05:00.000Z'), {}, 'notification'],
    ['of later', at('2026-11-21T08:05:00.001Z'), {}, 'from-the-future'],
    ['older than allowed', at(tenTo8), { maxAge: { minutes: 9 } }, 'too-old'],
    ['as old as allowed', at(tenTo8), { maxAge: { minutes: 10 } }, 'notification'],
    ['of two fields', { TopicArn: `${topicArn}\nType\nNotification` }, {}, 'malformed'],
  ])('%s, signed with %j, is with %j judged as %s', async (_, fields, change, expected) => {
    expect(await reasonOf(sns.notification('x', { ...at(now), ...fields }), change)).toBe(expected);
    const isFree = !['notification', 'signature'].includes(expected);
    expect(asked).toEqual(isFree ? [] : [certificateUrl]);
  });

  it.each([
    ['Message', 'other'],
    ['MessageId', 'other'],
    ['Subject', 'other'],
    ['Timestamp', '2026-11-21T08:00:00.001Z'],
    ['SignatureVersion', '1'],
    ['SigningCertURL', certificateUrl.replace('0123', 'aaaa')],
  ])('whose %s was changed is refused, and one that a stranger has signed', async (name, value) => {
    answers.set(value, () => new Response(stranger.certificate));
    expect(await reasonOf(stranger.notification('x', at(now)))).toBe('signature');
    const signed = sns.notification('x', { ...at(now), Subject: 'News' });
    const either = { signatureVersions: ['1', '2'] } as const;
    expect(await reasonOf({ ...signed, [name]: value }, either)).toBe('signature');
  });

  it.each([
    certificateUrl.replace('https', 'http'),
    onHost('sns.us-east-1.amazonaws.com.evil.example'),
    onHost('sns.us-east-1.amazonaws.com@evil.example'),
    onHost('sns.us-east-1.amazonaws.com:8443'),
    onHost('sns.us-east-1.amazonaws.com/bucket'),
    // A bucket of S3, which anybody may have.
    onHost('sns.s3.amazonaws.com'),
    // A host of SNS in another region than the topic's.
    onHost('sns.eu-west-1.amazonaws.com'),
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
    const SigningCertURL = onHost(`sns.${region}.${domain}`);
    answers.set(SigningCertURL, () => new Response(sns.certificate));
    const signed = sns.notification('x', { ...at(now), TopicArn, SigningCertURL });
    expect(await reasonOf(signed, { topicArns: TopicArn })).toBe('notification');
  });

  it.each([
    ['no JSON', 'Odalys', 'malformed'],
    ['no object', '[]', 'malformed'],
    ['no such type', '{"Type":"Other"}', 'malformed'],
    ['a field that is no text', '{"Type":"Notification","Message":{}}', 'malformed'],
    ['too large', '{'.repeat(1_048_577), 'too-large'],
  ])('that is %s is refused, and the error holds no value', async (_, body, reason) => {
    const error = await verify(body).catch((error) => error);
    expect(error).toMatchObject({ reason });
    expect(`${error}${error.cause}`).not.toContain('Odalys');
    expect(await reasonOf('x'.repeat(101), { maxBytes: 100 })).toBe('too-large');
  });
});

describe('the certificate of SNS', () => {
  it.each([
    ['an error', () => new Response(sns.certificate, { status: 503 })],
    ['a page that is no certificate', () => new Response('<html>Back soon</html>')],
    ['a text larger than any certificate', () => new Response(sns.certificate.padEnd(20_000))],
    ['a broken connection', () => Promise.reject(new TypeError('fetch failed'))],
  ])('that is %s is not cached: the message may come again', async (_, answer) => {
    const signed = sns.notification('x', at(now));
    answers.set(certificateUrl, answer);
    await expect(verify(signed)).rejects.toThrow('for a certificate');
    answers.set(certificateUrl, () => new Response(sns.certificate));
    expect(await reasonOf(signed)).toBe('notification');
  });

  it('is requested once, and again after strangers have named many others', async () => {
    await Promise.all([1, 2, 3].map(() => verify(sns.notification('x', at(now)))));
    await verify(sns.notification('y', at(now)));
    expect(asked).toEqual([certificateUrl]);
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
  it.each([
    ['is confirmed at SNS', {}, true],
    ['is only reported if another program confirms', { confirm: false }, false],
  ])('to an expected topic %s', async (_, change, confirmed) => {
    const verified = await verify(sns.confirmation(at(now)), change);
    expect(verified).toEqual({ kind: 'subscription', topicArn, confirmed });
    expect(await reasonOf(sns.confirmation({ ...at(now), TopicArn: foreignArn }))).toBe('topic');
    expect(asked).toEqual([certificateUrl, ...(confirmed ? [subscribeUrl] : [])]);
  });

  it.each([
    ['a longer host', '.com', '.com.evil.example'],
    ['another region', 'us-east-1', 'eu-west-1'],
    ['another port', '.com/', '.com:22/'],
    ['credentials', 'sns.', 'user:word@sns.'],
    ['another path', '/?', '/bucket/?'],
    ['no TLS', 'https', 'http'],
    ['no protocol', 'https://', ''],
    ['another topic', topicArn, foreignArn],
    ['another action', 'ConfirmSubscription', 'DeleteTopic'],
    ['two actions', '&', '&Action=DeleteTopic&'],
  ])('with a URL that has %s is not confirmed, even if it is signed', async (_, old, other) => {
    const SubscribeURL = subscribeUrl.replace(old, other);
    expect(await reasonOf(sns.confirmation({ ...at(now), SubscribeURL }))).toBe('subscribe-url');
    expect(asked).toEqual([certificateUrl]);
  });

  it('is confirmed without a redirect, and comes again if SNS does not answer', async () => {
    const fetch = vi.fn(async (_: string, _init: RequestInit) => new Response(sns.certificate));
    await verify(sns.confirmation(at(now)), { fetch });
    for (const [, init] of fetch.mock.calls) expect(init.redirect).toBe('error');
    answers.set(subscribeUrl, () => new Response('', { status: 500 }));
    await expect(verify(sns.confirmation(at(now)))).rejects.toThrow('for a confirmation');
  });

  it('that was ended is reported and not begun again, unless a stranger has ended it', async () => {
    const ended = { ...at(now), Type: 'UnsubscribeConfirmation' };
    expect(await verify(sns.confirmation(ended))).toEqual({ kind: 'unsubscription', topicArn });
    expect(asked).toEqual([certificateUrl]);
    expect(await reasonOf(stranger.confirmation(ended))).toBe('signature');
  });
});
