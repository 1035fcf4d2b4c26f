import type { IncomingMessage, ServerResponse } from 'node:http';
import { Temporal } from 'temporal-polyfill';
import { NotifierError } from '../lambda/errors.ts';
import { NotAnEventError, type RefusalReason, SnsMessageRefusedError } from './errors.ts';
import { parseEvent, type ReceivedEvent } from './parse-event.ts';
import { answerEarly, requestBody } from './request-body.ts';
import { defaultMaxBytes, type SnsVerification, verifySnsMessage } from './verify-sns-message.ts';

export interface WebhookOptions extends SnsVerification {
  /**
   * Answered to SNS as success once it resolves; SNS waits 15 seconds. What takes longer belongs in
   * a queue. When it throws, SNS sends the message again.
   */
  readonly handle: (event: ReceivedEvent) => Promise<unknown>;
  /**
   * Told of everything that was received, for a log. It is told after the answer to SNS; when it
   * throws or rejects, that is a warning of the process, and the next request is served.
   */
  readonly report: (reception: Reception) => unknown;
  /** Within what time a body must be here. Default: ten seconds. */
  readonly bodyWithin?: Temporal.DurationLike;
}

export type Reception =
  | { readonly outcome: 'handled'; readonly event: ReceivedEvent }
  | { readonly outcome: 'subscription'; readonly topicArn: string; readonly confirmed: boolean }
  | { readonly outcome: 'unsubscription'; readonly topicArn: string }
  /** Nothing was handled. SNS sends again what was answered with 5xx, and gives up on 4xx. */
  | { readonly outcome: 'refused' | 'failed'; readonly status: number; readonly error: unknown };

const statusOf: Record<RefusalReason, number> = {
  'too-large': 413,
  malformed: 400,
  topic: 403,
  'too-old': 403,
  'from-the-future': 403,
  'signature-version': 403,
  'certificate-url': 403,
  signature: 403,
  'subscribe-url': 403,
};

/**
 * An HTTPS endpoint for SNS, as a request handler of `node:http` (and of what is built on it, as long
 * as nothing has read the body before). Reads no more of a body than it may be long, verifies it, and
 * answers so that SNS sends again what can succeed later.
 *
 * TLS is the business of whatever stands before it: SNS delivers to trusted certificates only.
 */
export function webhook(
  options: WebhookOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    const reception = await receive(request, options);
    const status = 'status' in reception ? reception.status : 200;
    if (request.complete) response.writeHead(status).end();
    else answerEarly(request, response, status);
    try {
      await options.report(reception);
    } catch (error) {
      // The name alone: what was reported is in its hands, a person's name among it.
      const name = error instanceof Error ? error.name : typeof error;
      process.emitWarning(`report has thrown ${name}`, 'WebhookWarning');
    }
  };
}

async function receive(request: IncomingMessage, options: WebhookOptions): Promise<Reception> {
  try {
    const { maxBytes = defaultMaxBytes, bodyWithin = { seconds: 10 } } = options;
    const body = await requestBody(request, maxBytes, Temporal.Duration.from(bodyWithin));
    const message = await verifySnsMessage(body, options);
    const { kind, topicArn } = message;
    if (kind === 'unsubscription') return { outcome: kind, topicArn };
    if (kind === 'subscription') return { outcome: kind, topicArn, confirmed: message.confirmed };
    const event = parseEvent(message.message);
    await options.handle(event);
    return { outcome: 'handled', event };
  } catch (error) {
    if (error instanceof SnsMessageRefusedError)
      return { outcome: 'refused', status: statusOf[error.reason], error };
    if (error instanceof NotAnEventError) return { outcome: 'refused', status: 422, error };
    const status = error instanceof NotifierError && error.retryHelps ? 503 : 500;
    return { outcome: 'failed', status, error };
  }
}
