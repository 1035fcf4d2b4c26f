import type { IncomingMessage, ServerResponse } from 'node:http';
import { Temporal } from 'temporal-polyfill';
import { NotifierError } from '../lambda/errors.ts';
import { NotAnEventError, type RefusalReason, SnsMessageRefusedError } from './errors.ts';
import { parseEvent, type ReceivedEvent } from './parse-event.ts';
import { answerEarly, requestBody } from './request-body.ts';
import { defaultMaxBytes, type SnsVerification, verifySnsMessage } from './verify-sns-message.ts';

export interface WebhookOptions extends SnsVerification {
  /**
   * SNS gets a success once it resolves; SNS waits 15 seconds. Longer work belongs in a queue. If
   * it throws, SNS sends the message again.
   */
  readonly handle: (event: ReceivedEvent) => Promise<unknown>;
  /**
   * Called for everything that was received, for a log, after the answer to SNS. If it throws or
   * rejects, that is a warning of the process, and the next request is served.
   */
  readonly report: (reception: Reception) => unknown;
  /** How long a body may take. Default: ten seconds. */
  readonly bodyWithin?: Temporal.DurationLike;
}

export type Reception =
  | { readonly outcome: 'handled'; readonly event: ReceivedEvent }
  | { readonly outcome: 'subscription'; readonly topicArn: string; readonly confirmed: boolean }
  | { readonly outcome: 'unsubscription'; readonly topicArn: string }
  /** Nothing was handled. SNS sends a message again after 5xx, and gives up after 4xx. */
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
 * An HTTPS endpoint for SNS, as a request handler of `node:http` and of frameworks on it. Where a
 * framework has read the body before, `rawBody` is the body as it came, text or bytes; anything else
 * there is ignored, such as the `next` of Express. Otherwise it reads no more of a body than `maxBytes`, verifies it,
 * and answers so that SNS sends a message again that can succeed later.
 *
 * A proxy in front of it must provide TLS: SNS delivers to trusted certificates only.
 */
export function webhook(
  options: WebhookOptions,
): (request: IncomingMessage, response: ServerResponse, rawBody?: unknown) => Promise<void> {
  return async (request, response, rawBody) => {
    const reception = await receive(request, rawBody, options);
    const status = 'status' in reception ? reception.status : 200;
    if (request.complete) response.writeHead(status).end();
    else answerEarly(request, response, status);
    try {
      await options.report(reception);
    } catch (error) {
      // Only the error's name: `report` has the event, and its error may quote a person's name.
      const name = error instanceof Error ? error.name : typeof error;
      process.emitWarning(`report has thrown ${name}`, 'WebhookWarning');
    }
  };
}

async function receive(
  request: IncomingMessage,
  rawBody: unknown,
  options: WebhookOptions,
): Promise<Reception> {
  try {
    const { maxBytes = defaultMaxBytes, bodyWithin = { seconds: 10 } } = options;
    const body =
      typeof rawBody === 'string' || rawBody instanceof Uint8Array
        ? rawBody
        : await requestBody(request, maxBytes, Temporal.Duration.from(bodyWithin));
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
