import { randomBytes } from 'node:crypto';
import { type MiddlewareHandler, secureHeaders } from './library.ts';

/** What the largest form has, credentials included. */
const formBytes = 64 * 1024;

/**
 * The first part of every address of a console. Whoever knows it may do what the caller may: it is printed once, is
 * another in each process, and no page of another site or of another program of this machine can guess it. It needs
 * no cookie, which every server of this machine would be sent: cookies know no ports.
 */
export const newToken = (): string => randomBytes(24).toString('base64url');

/** Headers of every answer: nothing is loaded from elsewhere, framed or kept, and the address is told to nobody. */
const headers: MiddlewareHandler = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    styleSrc: ["'self'"],
    scriptSrc: ["'self'"],
    connectSrc: ["'self'"],
    imgSrc: ["'self'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
    baseUri: ["'self'"],
  },
  // With `no-referrer`, browsers would send forms with an Origin of null.
  referrerPolicy: 'same-origin',
  crossOriginResourcePolicy: 'same-origin',
  crossOriginOpenerPolicy: 'same-origin',
  // It has no certificate.
  strictTransportSecurity: false,
});

/**
 * What is asked of every request, before it is known which page it is for.
 *
 *   Host     ours to the letter: otherwise a name of somebody else's leads here (DNS rebinding)
 *   Origin   ours wherever a browser says it, and always there where something is changed
 *   Length   said of whatever is sent, as browsers say it of forms: what is longer than that never arrives
 *
 * @param host as it is printed
 */
export function guard(host: () => string): MiddlewareHandler[] {
  return [
    headers,
    async (c, next) => {
      c.header('Cache-Control', 'no-store');
      const { method } = c.req;
      const { host: asked, origin = method === 'GET' ? ours(host()) : undefined } = c.req.header();
      const isOurs = asked === host() && origin === ours(host());
      if (!isOurs || !['GET', 'POST'].includes(method))
        return c.text('Refused: this console is for its own pages only.', 403);
      if (method === 'POST' && !(Number(c.req.header('content-length')) <= formBytes))
        return c.text('Refused: no form is as large as this.', 413);
      await next();
      // An answer that was made elsewhere has other headers.
      return c.header('Cache-Control', 'no-store');
    },
  ];
}

const ours = (host: string) => `http://${host}`;
