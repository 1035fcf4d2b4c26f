import { SnsUnreachableError } from './errors.ts';
import { readBytes } from './read-bytes.ts';

/** The part of the global `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** SNS itself gives up on an endpoint after 15 seconds. */
const timeoutMs = 5_000;

/**
 * One GET at SNS. Redirects are not followed: only this host was checked.
 *
 * @throws SnsUnreachableError unless it answers 200, in time and not too much
 */
export async function askSns(
  fetch: Fetch,
  url: string,
  what: 'certificate' | 'confirmation',
  maxBytes: number,
): Promise<string> {
  try {
    const response = await fetch(url, {
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const body = await readBytes(response.body ?? [], maxBytes);
    if (response.status === 200 && body !== undefined) return body.toString('utf8');
  } catch (cause) {
    throw new SnsUnreachableError(what, { cause });
  }
  throw new SnsUnreachableError(what);
}
