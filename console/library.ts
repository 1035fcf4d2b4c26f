/**
 * All that the console takes of other packages. Only this file names them: the npm package has a bundle in its
 * place, so that subscribers who install it get none of them.
 */
export { getRequestListener } from '@hono/node-server';
export { type Context, Hono, type MiddlewareHandler } from 'hono';
export { html } from 'hono/html';
export { secureHeaders } from 'hono/secure-headers';
export { streamSSE } from 'hono/streaming';
