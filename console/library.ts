/**
 * The parts of other packages that the console uses. Only this file imports them: the npm package has a bundle in its
 * place, so subscribers who install it get none of them.
 */
export { getRequestListener } from '@hono/node-server';
export { type Context, Hono, type MiddlewareHandler } from 'hono';
export { html } from 'hono/html';
export { secureHeaders } from 'hono/secure-headers';
export { streamSSE } from 'hono/streaming';
