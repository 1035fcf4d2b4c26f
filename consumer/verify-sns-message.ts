import SnsPayloadValidator from 'sns-payload-validator';
import { Temporal } from 'temporal-polyfill';
import { type Clock, systemClock } from '../lambda/clock.ts';
import { SnsMessageRefusedError } from './errors.ts';
import { SigningCertificates } from './signing-certificates.ts';
import { readSnsMessage, type SignatureVersion, type SnsMessage } from './sns-message.ts';
import { originOfSns } from './sns-origin.ts';
import { askSns, type Fetch } from './sns-request.ts';

export interface SnsVerification {
  /** The topics that may send here; a message of any other is refused, however well signed. */
  readonly topicArns: string | readonly string[];
  /**
   * The accepted signatures. Default: `['2']` (SHA-256), with which the stack's topics sign. `['1',
   * '2']` is for a foreign topic that signs with SHA-1, too.
   */
  readonly signatureVersions?: readonly SignatureVersion[];
  /**
   * Messages sent longer ago are refused, so that a recorded one is of no use later. Default: one
   * hour, the longest for which SNS retries an HTTPS delivery. Hours and smaller units.
   */
  readonly maxAge?: Temporal.DurationLike;
  /** Default 1 MiB: SNS's largest message, escaped within its envelope, has less. */
  readonly maxBytes?: number;
  /** Default: subscriptions to `topicArns` are confirmed. */
  readonly confirm?: boolean;
  readonly clock?: Pick<Clock, 'now'>;
  /** For downloading certificates and confirming; default: the global one. */
  readonly fetch?: Fetch;
}

/** A message that SNS has sent, for one of the expected topics, not long ago. */
export type VerifiedSnsMessage =
  | {
      readonly kind: 'notification';
      readonly topicArn: string;
      readonly messageId: string;
      /** The published text, for `parseEvent`. */
      readonly message: string;
    }
  /** `confirmed`: from now on notifications come. */
  | { readonly kind: 'subscription'; readonly topicArn: string; readonly confirmed: boolean }
  /** Somebody has ended the subscription. It is not taken up again: a person must decide that. */
  | { readonly kind: 'unsubscription'; readonly topicArn: string };

export const defaultMaxBytes = 1_048_576;
const maxConfirmationBytes = 65_536;
/** For clocks that disagree. */
const tolerance = { minutes: 5 };

/**
 * Verifies that SNS has sent this, for an expected topic and not long ago, and returns its content.
 * A request to confirm a subscription is granted, for those topics only.
 *
 * Not for a subscription with raw delivery: its messages carry no signature, so nobody can tell who
 * sent them.
 *
 * @param body as it came, unparsed; SNS sends it as `text/plain`
 * @throws SnsMessageRefusedError, SnsUnreachableError
 */
export async function verifySnsMessage(
  body: string | Uint8Array,
  options: SnsVerification,
): Promise<VerifiedSnsMessage> {
  const { maxBytes = defaultMaxBytes, clock = systemClock, fetch = globalThis.fetch } = options;
  const message = readSnsMessage(body, maxBytes);
  // Checks that cost nothing come first: a message of another topic causes no download.
  if (![options.topicArns].flat().includes(message.TopicArn))
    throw new SnsMessageRefusedError('topic');
  if (!(options.signatureVersions ?? ['2']).includes(message.SignatureVersion))
    throw new SnsMessageRefusedError('signature-version');
  checkAge(message, clock.now(), options.maxAge ?? { hours: 1 });
  await checkSignature(message, fetch);

  const { TopicArn: topicArn } = message;
  switch (message.Type) {
    case 'Notification':
      return {
        kind: 'notification',
        topicArn,
        messageId: message.MessageId,
        message: message.Message,
      };
    case 'UnsubscribeConfirmation':
      return { kind: 'unsubscription', topicArn };
    case 'SubscriptionConfirmation': {
      checkSubscribeUrl(message.SubscribeURL, topicArn);
      const confirmed = options.confirm ?? true;
      if (confirmed)
        await askSns(fetch, message.SubscribeURL, 'confirmation', maxConfirmationBytes);
      return { kind: 'subscription', topicArn, confirmed };
    }
  }
}

function checkAge(
  { Timestamp }: SnsMessage,
  now: Temporal.Instant,
  maxAge: Temporal.DurationLike,
): void {
  const sent = Temporal.Instant.from(Timestamp);
  if (Temporal.Instant.compare(sent, now.subtract(maxAge)) < 0)
    throw new SnsMessageRefusedError('too-old');
  if (Temporal.Instant.compare(sent, now.add(tolerance)) > 0)
    throw new SnsMessageRefusedError('from-the-future');
}

/** Cached for the life of the process, for each `fetch`. */
const certificatesBy = new WeakMap<Fetch, SigningCertificates>();

async function checkSignature(message: SnsMessage, fetch: Fetch): Promise<void> {
  const certificates = certificatesBy.get(fetch) ?? new SigningCertificates(fetch);
  certificatesBy.set(fetch, certificates);
  const certificate = await certificates.at(message.SigningCertURL, message.TopicArn);
  try {
    await new CertifiedValidator(certificate).validate({
      ...message,
      SigningCertURL: placeThatTheLibraryKnows,
    });
  } catch (cause) {
    throw new SnsMessageRefusedError('signature', { cause });
  }
}

/** The certificate's address is checked already, and the library does not know every partition. */
const placeThatTheLibraryKnows = `https://sns.us-east-1.amazonaws.com/SimpleNotificationService-${'0'.repeat(32)}.pem`;

/**
 * The library with a certificate that is known already. Its own download has no limit of time or
 * size, takes an error page for a certificate, and keeps that.
 */
class CertifiedValidator extends SnsPayloadValidator {
  /** Where the library looks before it downloads. */
  readonly certCache: { get(): string; set(): void };

  constructor(certificate: string) {
    super({ useCache: false });
    this.certCache = { get: () => certificate, set: () => {} };
  }
}

/** A confirmation is a request from here: only to SNS, and only for an expected topic. */
function checkSubscribeUrl(subscribeUrl: string, topicArn: string): void {
  const url = URL.canParse(subscribeUrl) ? new URL(subscribeUrl) : undefined;
  const expected =
    // The parsed URL is checked, so that credentials, a port or another path cannot hide.
    url?.href.startsWith(`${originOfSns(topicArn)}/?`) &&
    url?.searchParams.getAll('Action').join() === 'ConfirmSubscription' &&
    url.searchParams.getAll('TopicArn').join() === topicArn;
  if (!expected) throw new SnsMessageRefusedError('subscribe-url');
}
