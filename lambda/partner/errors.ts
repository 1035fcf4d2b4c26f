import { type Fault, NotifierError, type Reach, reachOf } from '../errors.ts';

/** Which of the API's three endpoints a request went to (partner-api.md, 4.1 to 4.3). */
export type RequestKind = 'token' | 'list' | 'get';

/** Everything the partner client throws, save the reason of a signal that the caller aborted. */
export abstract class PartnerError extends NotifierError {
  readonly fault: Fault = 'partner';
  /** How long to wait before the next attempt, in milliseconds, if the host or our own pace has said. */
  readonly retryAfterMs: number | undefined = undefined;
  /** Whether the host was asked at all: if not, it was no attempt. */
  readonly wasSent: boolean = true;
}

/** The class that an error of the client extends: its code, how far it reaches, and whether a retry helps. */
function partnerError<Code extends string>(
  code: Code,
  reach: Reach = 'all',
  retry?: 'retry-helps',
) {
  abstract class Known extends PartnerError {
    readonly code = code;
    override readonly reach: Reach = reach;
    readonly retryHelps = retry !== undefined;
  }
  return Known;
}

const ENDPOINT = {
  token: 'the token endpoint',
  list: 'the list of assessments',
  get: 'the single-record endpoint',
} as const satisfies Record<RequestKind, string>;

/** 401 at the token endpoint, with a secret that has just been read afresh (partner-api.md, 7). */
export class CredentialsRefusedError extends partnerError('credentials-refused', 'access') {
  readonly whatToDo =
    'Compare client_id and client_secret in Secrets Manager with what the partner issued; if they agree, ask the partner whether the secret was rotated or the integration was switched off.';

  constructor(options?: ErrorOptions) {
    super('The token endpoint refused the client ID or the secret, twice.', options);
  }
}

/** 400 `unsupported_grant_type` at the token endpoint (partner-api.md, 7). */
export class UnsupportedGrantError extends partnerError('unsupported-grant', 'access') {
  readonly whatToDo =
    'Try another form of the token request (form, basic or json); if none works, ask the partner whether the integration allows the client_credentials grant.';

  constructor(options?: ErrorOptions) {
    super('The token endpoint did not accept the grant type client_credentials.', options);
  }
}

/** The API answered 401 to a token that it had issued a moment before (partner-api.md, 7, rule 2). */
export class TokenRefusedTwiceError extends partnerError('token-refused-twice', 'access') {
  readonly whatToDo =
    'If it lasts for more than a few minutes, tell the partner that the API refuses tokens which its own token endpoint has just issued, and ask whether the integration is enabled on this host.';

  constructor(kind: RequestKind, options?: ErrorOptions) {
    super(
      `A token and the one requested in its place were both refused by ${ENDPOINT[kind]}.`,
      options,
    );
  }
}

/**
 * 400 to the list without a filter: the integration has no organizations or no assessments (partner-api.md, 7,
 * rule 1). Which of the two it is, only the text of the answer says, and nothing branches on a text.
 */
export class NotProvisionedError extends partnerError('not-provisioned', 'access') {
  readonly whatToDo =
    "Contact the partner's support: name the client ID, and say that the assessments API answers 400 to the list without any filter, as it does when the integration has no organizations or no assessments assigned. Ask them to assign both.";

  constructor(options?: ErrorOptions) {
    super('The integration has no organizations or no assessments assigned.', options);
  }
}

/** 429. Not in the document, which shows no rate limits (partner-api.md, 8). */
export class RateLimitedError extends partnerError('rate-limited', 'pace', 'retry-helps') {
  readonly whatToDo =
    'Wait; if it goes on, set `requestsPerMinute` to what the host allows, and ask the partner for the limit.';
  override readonly retryAfterMs: number | undefined;

  constructor(kind: RequestKind, retryAfterMs?: number) {
    super(`Rate limited by ${ENDPOINT[kind]}.`);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The minute has no room for another request: too many were sent, or the host wants to be left alone. Nothing was sent. */
export class PaceSpentError extends partnerError('pace-spent', 'pace', 'retry-helps') {
  readonly whatToDo =
    'Wait; if it goes on, set `requestsPerMinute` to what the host allows, and ask the partner for the limit.';
  override readonly wasSent = false;
  /** After how many milliseconds there is room again. */
  override readonly retryAfterMs: number;

  constructor(kind: RequestKind, retryAfterMs: number) {
    super(`The pace leaves no room for a request to ${ENDPOINT[kind]} now.`);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whether a call ended because its own deadline came, or for the pace: it has no answer yet. */
export function isCutOff(error: unknown): boolean {
  const reach = reachOf(error);
  return reach === 'pace' || reach === 'time';
}

/** 408, 5xx other than 501, a refused or broken connection, a name that does not resolve. */
export class UnavailableError extends partnerError('unavailable', 'request', 'retry-helps') {
  readonly whatToDo =
    'Wait; if it lasts, check the base URL and the way to the host, then ask the partner about an outage.';
  override readonly retryAfterMs: number | undefined;

  /** @param reason `status 503`, or the code of the connection's failure */
  constructor(
    kind: RequestKind,
    reason: string,
    options?: ErrorOptions & { retryAfterMs?: number },
  ) {
    super(`No usable answer from ${ENDPOINT[kind]}: ${reason}.`, options);
    this.retryAfterMs = options?.retryAfterMs;
  }
}

/** Which limit ran out: one of undici's, one attempt as a whole, or the caller's deadline. */
export type TimedOutPhase = 'connect' | 'headers' | 'body' | 'attempt' | 'deadline';

export class TimedOutError extends partnerError('timed-out', 'all', 'retry-helps') {
  override readonly reach: Reach;
  readonly whatToDo =
    'Wait; if it lasts, ask the partner why the host is slow, or raise the time-outs.';
  readonly phase: TimedOutPhase;

  constructor(kind: RequestKind, phase: TimedOutPhase, options?: ErrorOptions) {
    super(`Timed out at ${ENDPOINT[kind]} (${phase}).`, options);
    this.phase = phase;
    this.reach = phase === 'deadline' ? 'time' : 'request';
  }
}

/** The host's certificate cannot be verified. Nothing was sent. */
export class UntrustedHostError extends partnerError('untrusted-host') {
  readonly whatToDo =
    'Check the base URL; if it is right, tell the partner that the certificate of the host cannot be verified. Do not switch verification off.';

  constructor(reason: string, options?: ErrorOptions) {
    super(`The certificate of the host could not be verified (${reason}).`, options);
  }
}

/** A success whose body is not JSON, not UTF-8, or not what the document describes. */
export class UnexpectedResponseError extends partnerError('unexpected-response', 'request') {
  readonly whatToDo =
    'Check the base URL; if it is right, the API has changed or a proxy answers in its place: run the conformance suite and show the partner what it finds.';
  /** Paths and what is wrong with them; never a value. */
  readonly problems: readonly string[];

  constructor(kind: RequestKind, problems: readonly string[], options?: ErrorOptions) {
    super(`Unexpected response from ${ENDPOINT[kind]}: ${problems.join('; ')}.`, options);
    this.problems = problems;
  }
}

/** `get` received a record that is not the one the document describes (partner-api.md, 2.2). */
export class MalformedRecordError extends partnerError('malformed-record', 'request') {
  override readonly fault = 'record';
  readonly whatToDo = 'Show the partner the ID of the record and the paths that are wrong.';
  /** The ID that was asked for. */
  readonly id: number;
  /** Paths and what is wrong with them; never a value. */
  readonly problems: readonly string[];

  constructor(id: number, problems: readonly string[]) {
    super(`Assessment ${id} is malformed: ${problems.join('; ')}.`);
    this.id = id;
    this.problems = problems;
  }
}

/** A body above `limits.maxResponseBytes`, of which no more is read, or with too many values. */
export class ResponseTooLargeError extends partnerError('response-too-large', 'request') {
  override readonly fault = 'record';
  readonly whatToDo =
    'Ask for fewer records a page; if the records are legitimately this large, raise the limit.';

  /** @param limit as in "1024 bytes" */
  constructor(kind: RequestKind, limit: string) {
    super(`The response of ${ENDPOINT[kind]} holds more than ${limit}.`);
  }
}

/** Any 3xx: a token must not follow a redirect to wherever it leads. */
export class RedirectRefusedError extends partnerError('redirect-refused') {
  override readonly fault = 'ops';
  readonly whatToDo =
    'Set the base URL to the host that the partner gave you, exactly; ask them if it has moved.';
  readonly status: number;

  constructor(kind: RequestKind, status: number) {
    super(`Redirected (status ${status}) by ${ENDPOINT[kind]}; not followed.`);
    this.status = status;
  }
}

/** A 4xx (or 501) that the document does not describe. */
export class RequestRefusedError extends partnerError('request-refused', 'request') {
  readonly whatToDo =
    'Check the base URL; if it is right, tell the partner which endpoint gave which status.';
  readonly status: number;

  constructor(kind: RequestKind, status: number) {
    super(`Refused by ${ENDPOINT[kind]} with status ${status}.`);
    this.status = status;
  }
}

/** What the caller asked for cannot be asked of the API. Nothing was sent. */
export class InvalidQueryError extends partnerError('invalid-query') {
  override readonly fault = 'ops';
  readonly whatToDo = 'Correct the call: this is a mistake in the calling code.';
  /** Parameters and what is wrong with them; never a value. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Not a valid query: ${problems.join('; ')}.`);
    this.problems = problems;
  }
}

/** The base URL is not `https:` (nor loopback), or carries more than an address. */
export class InvalidBaseUrlError extends partnerError('invalid-base-url') {
  override readonly fault = 'ops';
  readonly whatToDo =
    'Set the base URL to https:// and the host that the partner gave you, without user, query or fragment.';

  constructor(problem: string, options?: ErrorOptions) {
    super(`The base URL ${problem}.`, options);
  }
}

/** The client was used after `close()`. */
export class ClientClosedError extends partnerError('client-closed') {
  override readonly fault = 'ops';
  readonly whatToDo = 'Create a client for each use, or close it last.';

  constructor(options?: ErrorOptions) {
    super('The partner client has been closed.', options);
  }
}
