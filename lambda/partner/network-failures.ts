import {
  ClientClosedError,
  PartnerError,
  type RequestKind,
  TimedOutError,
  type TimedOutPhase,
  UnavailableError,
  UnexpectedResponseError,
  UntrustedHostError,
} from './errors.ts';

const PHASE_OF_CODE: ReadonlyMap<string, TimedOutPhase> = new Map([
  ['UND_ERR_CONNECT_TIMEOUT', 'connect'],
  ['ETIMEDOUT', 'connect'],
  ['UND_ERR_HEADERS_TIMEOUT', 'headers'],
  ['UND_ERR_BODY_TIMEOUT', 'body'],
]);

/** Node's certificate checks: OpenSSL's X509_V_ERR_*, and its own of the host's name. */
const UNTRUSTED = /^(CERT_|ERR_TLS_CERT|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/;

/** How undici marks the errors of its HTTP parser, in whichever copy of it. */
const HTTP_PARSER = Symbol.for('undici.error.UND_ERR_HTTP_PARSER');

/** Node and undici tell their failures apart by `code`. */
export function toPartnerError(kind: RequestKind, error: Error): PartnerError {
  if (error instanceof PartnerError) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
  const phase = PHASE_OF_CODE.get(code);
  if (phase) return new TimedOutError(kind, phase, { cause: error });
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new UnexpectedResponseError(kind, ['headers: too large'], { cause: error });
  }
  // No cause: this error holds the bytes that could not be read. Its code is often missing.
  if (HTTP_PARSER in error) return new UnexpectedResponseError(kind, ['not HTTP']);
  if (UNTRUSTED.test(code)) return new UntrustedHostError(code, { cause: error });
  if (code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED') {
    return new ClientClosedError({ cause: error });
  }
  return new UnavailableError(kind, code, { cause: error });
}
