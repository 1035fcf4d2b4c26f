import { request as askHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as askHttps } from 'node:https';
import { finished } from 'node:stream/promises';
import type { Clock } from '../../lambda/clock.ts';
import type { Envelope } from './envelope.ts';

/** SNS's own limit for an answer. */
const timeoutMs = 15_000;

export interface PostResult {
  /** The status of HTTP. If there is none, the reason: `too-late`, or the operating system's name for the error. */
  readonly status: number | string;
  readonly tookMs: number;
}

interface Posting {
  readonly to: URL;
  readonly subscriptionArn: string;
  readonly clock: Clock;
  readonly stop: AbortSignal;
}

/**
 * Posts a notification as SNS does to an HTTPS subscription: the unchanged envelope, declared as plain text.
 *
 * @throws the reason of `stop`
 */
export async function post(
  body: string,
  envelope: Envelope,
  { to, subscriptionArn, clock, stop }: Posting,
): Promise<PostResult> {
  const begun = clock.now();
  const late = new AbortController();
  const inTime = clock.after(timeoutMs, () => late.abort());
  const answer = (status: PostResult['status']): PostResult => ({
    status,
    tookMs: begun.until(clock.now()).total('milliseconds'),
  });
  try {
    const headers = {
      'content-type': 'text/plain; charset=UTF-8',
      'user-agent': 'Amazon Simple Notification Service Agent',
      'x-amz-sns-message-type': 'Notification',
      'x-amz-sns-message-id': envelope.messageId,
      'x-amz-sns-topic-arn': envelope.topicArn,
      'x-amz-sns-subscription-arn': subscriptionArn,
    };
    const signal = AbortSignal.any([stop, late.signal]);
    return answer(await statusOf(to, body, { headers, signal }));
  } catch (error) {
    stop.throwIfAborted();
    return answer(late.signal.aborted ? 'too-late' : reasonOf(error));
  } finally {
    inTime();
  }
}

/** Node's own `http`, since `fetch` adds headers of its own. */
async function statusOf(
  to: URL,
  body: string,
  options: Pick<RequestOptions, 'headers' | 'signal'>,
): Promise<number> {
  const ask = to.protocol === 'https:' ? askHttps : askHttp;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // Each post has a connection of its own, since a restarted server has closed the old ones.
    ask(to, { method: 'POST', agent: false, ...options }, resolve)
      .on('error', reject)
      .end(body);
  });
  await finished(response.resume());
  return response.statusCode ?? 0;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
