import type { Door } from './door.ts';
import { guard } from './guard.ts';
import { askedPath, page } from './layout.ts';
import { type Context, Hono, html } from './library.ts';
import { type Live, liveScript } from './live.ts';
import { icon, style } from './style.ts';

export interface FrontParts {
  /** The first part of every path. */
  readonly token: string;
  readonly live: Live;
  readonly host: () => string;
  /** Answers all other requests. */
  readonly pages: () => Promise<Hono>;
}

/** A browser without JavaScript reloads the page after so many seconds. */
const lookAgainSeconds = 3;

/**
 * Answers before anything else is loaded: it guards the console, serves the parts of pages, and shows the progress of
 * `npm start` until the pages are ready.
 */
export function front(door: Door, { token, live, host, pages }: FrontParts): Hono {
  const root = `/${token}/`;
  const whole = new Hono();
  whole.use(...guard(host));
  const console = whole.basePath(root);
  const asset = (path: string, type: string, body: string) =>
    console.get(path, (c) => c.body(body, 200, { 'Content-Type': type }));
  asset('style.css', 'text/css; charset=utf-8', style);
  asset('live.js', 'text/javascript; charset=utf-8', liveScript);
  asset('icon.svg', 'image/svg+xml', icon);
  // The address without its end, as people copy it.
  whole.get(root.slice(0, -1), (c) => c.redirect(root, 303));
  console.get('live', (c) => live.stream(c));
  console.all('*', async (c) => {
    const { progress = [] } = door.local ?? {};
    if (progress.length > 0) return starting(c, door, root, progress);
    return (await pages()).fetch(c.req.raw, c.env);
  });
  whole.notFound((c) =>
    c.text('Refused. Open the address as it was printed when the console started.', 403),
  );
  return whole;
}

function starting(
  c: Context,
  door: Door,
  root: string,
  steps: readonly string[],
): Response | Promise<Response> {
  c.header('Refresh', String(lookAgainSeconds));
  const content = html`<div id="starting" data-live data-until><ol>${steps.map((step) => html`<li>${step}</li>`)}</ol><p class="faint">This page goes on by itself when everything is ready.</p></div>`;
  const about = { door, integrations: [], at: '', root, path: askedPath(c.req.url) };
  return c.html(page({ ...about, title: 'Starting', content }), 503);
}
