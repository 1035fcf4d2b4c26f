import { UsageError } from '../errors.ts';

const allowed =
  'Allowed: https://…, or http:// on this machine (localhost, 127.0.0.1, [::1]). Events hold personal data, which http sends in clear.';

/** Names of this machine that nobody's DNS can give to another one. */
const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Where events are posted to. What was given is not repeated: it may hold a password or a token.
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
