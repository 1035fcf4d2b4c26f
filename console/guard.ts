import { randomBytes } from 'node:crypto';
import { type MiddlewareHandler, secureHeaders } from './library.ts';

/** The largest form, credentials included, is smaller. */
const formBytes = 64 * 1024;

/**
 * The first part of every address of a console. A process that knows it has the rights of the caller. It is printed
 * once and differs in each process, so no page of another site and no other program of this machine can guess it. A
 * cookie would be sent to every server of this machine, since cookies do not depend on the port.
 */
export const newToken = (): string => randomBytes(24).toString('base64url');

/**
 * Headers of every answer: nothing is loaded from elsewhere, framed or cached, and the address leaves the console in no
 * header.
 */
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
  // The console has no certificate.
  strictTransportSecurity: false,
});

/**
 * Guards every request, before its page is known.
 *
 *   Host     the console's own, letter by letter: another name may lead here by DNS rebinding
 *   Origin   the console's own where a browser sends it; required where something is changed
 *   Length   given for every form, as browsers do, and small enough: a larger form is not read
 *
 * @param host as the console prints it
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
      // The answer of a page replaces the headers that were set before.
      return c.header('Cache-Control', 'no-store');
    },
  ];
}

const ours = (host: string) => `http://${host}`;
