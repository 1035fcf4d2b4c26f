import { InvalidBaseUrlError } from './errors.ts';

/**
 * The partner's `{base_url}`, checked: `https:`, or `http:` on a loopback address.
 *
 * @throws {InvalidBaseUrlError}
 */
export function parseBaseUrl(baseUrl: string | URL): URL {
  const url = URL.parse(String(baseUrl));
  if (url === null) throw new InvalidBaseUrlError('is not a URL');
  const plain = url.protocol === 'http:' && isLoopback(url.hostname);
  if (url.protocol !== 'https:' && !plain) {
    throw new InvalidBaseUrlError('is not https (http is for loopback addresses only)');
  }
  if (url.username || url.password) throw new InvalidBaseUrlError('contains credentials');
  if (url.search || url.hash) throw new InvalidBaseUrlError('contains a query or a fragment');
  return url;
}

/** The URL parser has already brought every notation of 127.0.0.0/8 and ::1 into this form. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
