import { UsageError } from '../errors.ts';

const allowed =
  'Allowed: https://…, or http:// on this machine (localhost, 127.0.0.1, [::1]). Events hold personal data, which http sends in clear.';

/** Names that mean this machine, which no DNS server can give to another one. */
const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Parses the URL that events are posted to. Errors do not quote it, since it may hold a password or a token.
 *
 * @throws UsageError
 */
export function targetUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new UsageError('--forward-to is no http or https URL.', allowed);
  if (url.protocol === 'http:' && !loopback.test(url.hostname))
    throw new UsageError('--forward-to is a http URL of another machine.', allowed);
  return url;
}
