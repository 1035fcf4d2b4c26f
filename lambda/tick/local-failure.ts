import {
  RequestRefusedError,
  ResponseTooLargeError,
  TimedOutError,
  UnavailableError,
  UnexpectedResponseError,
} from '../partner/errors.ts';

const kinds = [
  RequestRefusedError,
  ResponseTooLargeError,
  TimedOutError,
  UnavailableError,
  UnexpectedResponseError,
];

/** What may be wrong with one record or one day, and need not be with the host. */
export function isLocalFailure(error: unknown): boolean {
  return kinds.some((kind) => error instanceof kind);
}
