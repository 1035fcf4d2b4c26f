import { NotifierError } from '../lambda/errors.ts';

/** The input of `parseEvent` holds no event. The text of the error has no value of it. */
export class NotAnEventError extends NotifierError {
  readonly code = 'not-an-event';
  readonly fault = 'record';
  readonly retryHelps = false;
  readonly whatToDo =
    'Look for other senders to this queue or URL: a message that is no event stays none.';
  /** Paths, each with its problem; never a value. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(`This is no event of certification-notifier: ${problems.join('; ')}.`, options);
    this.problems = problems;
  }
}

/** Why a message does not count as sent by the expected topic, or as sent lately. */
export type RefusalReason =
  | 'too-large'
  | 'malformed'
  | 'topic'
  | 'too-old'
  | 'from-the-future'
  | 'signature-version'
  | 'certificate-url'
  | 'signature'
  | 'subscribe-url';

const refusals: Record<RefusalReason, string> = {
  'too-large': 'it is larger than any that SNS sends',
  malformed: 'it is not shaped like one',
  topic: 'it is of another topic',
  'too-old': 'it was sent too long ago',
  'from-the-future': 'it claims to be sent later than now',
  'signature-version': 'it is signed in a way that is not accepted here',
  'certificate-url': 'its certificate is not at SNS',
  signature: 'its signature does not fit',
  'subscribe-url': 'its confirmation URL is not that of its topic at SNS',
};

/** A message that claims to come from SNS and cannot be believed. Nothing was done with it. */
export class SnsMessageRefusedError extends NotifierError {
  readonly code = 'sns-message-refused';
  readonly fault = 'record';
  readonly retryHelps = false;
  readonly whatToDo =
    'Nothing, if a stranger has sent it. If messages of your own topic are refused, compare `topicArns` and the clock, and let the topic sign with version 2 (its attribute SignatureVersion).';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, options?: ErrorOptions) {
    super(`A message was not taken for one of SNS: ${refusals[reason]}.`, options);
    this.reason = reason;
  }
}

/** SNS did not answer a request, or not as it should. */
export class SnsUnreachableError extends NotifierError {
  readonly code = 'sns-unreachable';
  readonly fault = 'aws';
  readonly retryHelps = true;
  readonly whatToDo =
    'Let the receiver reach https://sns.<region>.amazonaws.com, through a proxy if it must be.';

  constructor(what: 'certificate' | 'confirmation', options?: ErrorOptions) {
    super(`SNS did not answer to the request for a ${what} as it should.`, options);
  }
}

/** A body that did not arrive in time. */
export class BodyTooSlowError extends NotifierError {
  readonly code = 'body-too-slow';
  readonly fault = 'aws';
  readonly retryHelps = true;
  readonly whatToDo = 'Nothing: SNS sends it again.';

  constructor() {
    super('The body of a message did not arrive in time.');
  }
}

/** A framework has read the body before, and did not hand it over as it came. */
export class BodyAlreadyReadError extends NotifierError {
  readonly code = 'body-already-read';
  readonly fault = 'ops';
  readonly retryHelps = false;
  readonly whatToDo =
    'Mount `webhook` before body parsers, or give it the body as text or bytes, as it came, as a third argument.';

  constructor() {
    super('The body of a request was read before `webhook` could read it.');
  }
}

/** Another worker is handling this event, or another one of its subject, at this moment. */
export class InHandError extends NotifierError {
  readonly code = 'in-hand';
  readonly fault = 'ops';
  readonly retryHelps = true;
  readonly whatToDo =
    'Leave the message in its queue: it comes again, and is then handled or known.';

  constructor() {
    super('Another worker has this event, or one of its subject, in hand.');
  }
}

/** The handler took longer than its claim lasts, and another worker began the same meanwhile. */
export class ClaimLostError extends NotifierError {
  readonly code = 'claim-lost';
  readonly fault = 'ops';
  readonly retryHelps = true;
  readonly whatToDo =
    'Make the handler faster, or `claimFor` (and the visibility timeout of the queue) longer.';

  constructor() {
    super('An event was handled for longer than its claim lasts; it may have been handled twice.');
  }
}

/** The store of handled events did not answer. */
export class StoreUnavailableError extends NotifierError {
  readonly code = 'store-unavailable';
  readonly fault = 'aws';
  readonly retryHelps = true;
  readonly whatToDo =
    "Look at the cause: the table's name, its key, its permissions (GetItem, UpdateItem).";

  constructor(options?: ErrorOptions) {
    super('The store of handled events cannot be used.', options);
  }
}
