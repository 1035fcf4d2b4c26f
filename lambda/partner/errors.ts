import { noticed } from '../condition-table.ts';
import { type Fault, NotifierError, type Reach, reachOf } from '../errors.ts';

/**
 * The API's three endpoints, by a request's kind, as texts name them (docs/partner.md, 4.1 to 4.3).
 */
const endpoints = {
  token: 'the token endpoint',
  list: 'the list of assessments',
  get: 'the single-record endpoint',
} as const;

export type RequestKind = keyof typeof endpoints;

interface Meaning {
  /** Default: the partner's. */
  readonly fault?: Fault;
  /** Default: `request`. */
  readonly reach?: Reach;
  readonly retryHelps?: boolean;
  readonly whatToDo: string;
  /** The text of the failure, up to the endpoint. */
  readonly says: string;
}

/** For deadlines, too: ops read this text, and cannot call with a later deadline. */
const askWhySlow = 'Wait; if it lasts, ask the partner why the host is slow.';

/** The minute is over soon; the second sentence is for refusals that last. */
const pace = `Wait a minute, and try again. If it goes on: ${noticed['rate-limited'].toDo}`;

export const meanings = {
  /** 401 at the token endpoint, with a secret that has just been read afresh (docs/partner.md, 7). */
  'credentials-refused': {
    says: 'The client ID or the secret was refused, twice, by',
    reach: 'access',
    whatToDo: noticed['credentials-refused'].toDo,
  },
  /** 400 `unsupported_grant_type` at the token endpoint (docs/partner.md, 7). */
  'unsupported-grant': {
    says: 'The grant type client_credentials was not accepted by',
    reach: 'access',
    whatToDo: noticed['unsupported-grant'].toDo,
  },
  /** The API answered 401 to a token that it had issued a moment before (docs/partner.md, 7, rule 2). */
  'token-refused-twice': {
    says: 'A token and the one requested in its place were both refused by',
    reach: 'access',
    retryHelps: true,
    whatToDo: noticed['token-refused-twice'].toDo,
  },
  /**
   * 400 to the list without a filter: the integration has no organizations or no assessments
   * (docs/partner.md, 7, rule 1). Only the text of the answer says which of the two, and no code
   * branches on a text.
   */
  'not-provisioned': {
    says: 'No organizations or no assessments are assigned to the integration, according to',
    reach: 'access',
    whatToDo: noticed['not-provisioned'].toDo,
  },
  /** 429. Not in the document, which shows no rate limits (docs/partner.md, 8). */
  'rate-limited': {
    says: 'Rate limited by',
    reach: 'pace',
    retryHelps: true,
    whatToDo: pace,
  },
  /**
   * The minute has no room for another request: too many were sent, or the host has asked for
   * silence. Nothing was sent.
   */
  'pace-spent': {
    says: 'The pace leaves no room now for a request to',
    reach: 'pace',
    retryHelps: true,
    // The error does not know whether the pace was set or learned from refusals.
    whatToDo: pace,
  },
  /** 408, 5xx other than 501, a refused or broken connection, a name that does not resolve. */
  unavailable: {
    says: 'No usable answer from',
    retryHelps: true,
    whatToDo: `Wait. If it lasts: ${noticed['partner-silent'].toDo}`,
  },
  /** The limit of connecting, of headers, of the body, or of an attempt as a whole. */
  'timed-out': {
    says: 'Timed out at',
    retryHelps: true,
    whatToDo: askWhySlow,
  },
  /** The caller's deadline came. */
  'out-of-time': {
    says: 'Timed out at',
    reach: 'time',
    retryHelps: true,
    whatToDo: askWhySlow,
  },
  /** The host's certificate cannot be verified. Nothing was sent. */
  'untrusted-host': {
    says: 'The certificate of the host could not be verified, for a request to',
    reach: 'all',
    whatToDo:
      'Check the base URL; if it is right, tell the partner that the certificate of the host cannot be verified. Do not switch verification off.',
  },
  /** A success whose body is not JSON, not UTF-8, or not as documented. */
  'unexpected-response': {
    says: 'Unexpected response from',
    whatToDo:
      'Check the base URL. If it is right, the API has changed or a proxy answers in its place: describe the response to the partner.',
  },
  /** `get` received a record that is not as documented (docs/partner.md, 2.2). */
  'malformed-record': {
    says: 'A malformed record came from',
    fault: 'record',
    whatToDo: 'Tell the partner which record it is, and the paths that are wrong.',
  },
  /** A body above `limits.maxResponseBytes`, of which no more is read, or with too many values. */
  'response-too-large': {
    says: 'A response was too large to be read, from',
    fault: 'record',
    whatToDo:
      'Ask for fewer records a page; if the records are legitimately this large, raise the limit.',
  },
  /** Any 3xx: a token must not follow a redirect to an unknown host. */
  'redirect-refused': {
    says: 'A redirect was not followed, from',
    fault: 'ops',
    reach: 'all',
    whatToDo:
      'Set the base URL to the host that the partner gave you, exactly; ask them if it has moved.',
  },
  /** A 4xx (or 501) that the document does not describe. */
  'request-refused': {
    says: 'Refused by',
    whatToDo:
      'Check the base URL; if it is right, tell the partner which endpoint gave which status.',
  },
  /** The API cannot be asked this, or the client is closed. Nothing was sent. */
  'invalid-call': {
    says: 'Not a valid call of',
    fault: 'ops',
    reach: 'all',
    whatToDo: 'Correct the call: this is a mistake in the calling code.',
  },
  /** The base URL is not `https:` (nor loopback), or carries more than an address. */
  'invalid-base-url': {
    says: 'The base URL does not lead to',
    fault: 'ops',
    reach: 'all',
    whatToDo:
      'Set the base URL to https:// and the host that the partner gave you, without user, query or fragment.',
  },
} as const satisfies Record<string, Meaning>;

export type PartnerErrorCode = keyof typeof meanings;

/** Every error of the partner client, except the reason of a signal that the caller aborted. */
export class PartnerError extends NotifierError {
  readonly code: PartnerErrorCode;
  readonly fault: Fault;
  override readonly reach: Reach;
  readonly retryHelps: boolean;
  readonly whatToDo: string;
  /** How long to wait before the next attempt, in milliseconds, if the host or our own pace has said. */
  readonly retryAfterMs: number | undefined;

  /**
   * @param details without a credential, a body or a record's value
   */
  constructor(
    code: PartnerErrorCode,
    at: RequestKind,
    details: string | readonly string[] = [],
    { retryAfterMs, ...options }: ErrorOptions & { retryAfterMs?: number | undefined } = {},
  ) {
    const meaning: Meaning = meanings[code];
    const said = [`${meaning.says} ${endpoints[at]}`, [details].flat().join('; ')].filter(Boolean);
    super(`${said.join(': ')}.`, options);
    this.code = code;
    this.fault = meaning.fault ?? 'partner';
    // Where only single records lead elsewhere, lists are right all the same.
    const isOfOne = code === 'redirect-refused' && at === 'get';
    this.reach = (isOfOne ? undefined : meaning.reach) ?? 'request';
    this.retryHelps = meaning.retryHelps ?? false;
    this.whatToDo = meaning.whatToDo;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whether its own deadline or the pace ended a call: it has no answer yet. */
export function isCutOff(error: unknown): boolean {
  const reach = reachOf(error);
  return reach === 'pace' || reach === 'time';
}
