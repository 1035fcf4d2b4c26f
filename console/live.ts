import type { Door } from './door.ts';
import { type Context, streamSSE } from './library.ts';

/** Proxies and browsers give up connections on which nothing comes. */
const signOfLifeMs = 15_000;

/** Tells open pages that something has changed: all of them, or the one of this path. */
export type Changed = (path?: string) => void;

/** Tells open pages that something has changed. The deployment is looked at only while one is open. */
export class Live {
  readonly #door: Door;
  readonly #open = new Set<Changed>();
  #looking: AbortController | undefined;
  /** By the clock of this machine, which the browser has as well: milliseconds since the epoch. */
  #changedAt = 0;

  constructor(door: Door) {
    this.#door = door;
  }

  /** Something has changed: each open page looks again, or the one of this path. */
  readonly changed: Changed = (path) => {
    this.#changedAt = Date.now();
    for (const tell of this.#open) tell(path);
  };

  /** One open page, which says since when it is: what has changed before it began to listen, it has missed. */
  stream(c: Context) {
    const openedAt = Number(c.req.query('since'));
    return streamSSE(c, async (stream) => {
      const tell: Changed = (path = '') => void stream.writeSSE({ event: 'change', data: path });
      const timer = setInterval(
        () => void stream.writeSSE({ event: 'still', data: '' }),
        signOfLifeMs,
      );
      timer.unref();
      this.#add(tell);
      if (openedAt <= this.#changedAt) tell();
      await new Promise<void>((resolve) => stream.onAbort(resolve));
      clearInterval(timer);
      this.#remove(tell);
    });
  }

  #add(tell: Changed): void {
    this.#open.add(tell);
    if (this.#looking !== undefined) return;
    this.#looking = new AbortController();
    this.#door.follow(() => this.changed(), this.#looking.signal);
  }

  #remove(tell: Changed): void {
    this.#open.delete(tell);
    if (this.#open.size > 0) return;
    this.#looking?.abort();
    this.#looking = undefined;
  }
}

/**
 * In the browser: when something has changed, the page is fetched again, and the parts of it that may change take the
 * place of the old ones. They keep how far they were scrolled and where the focus was; a part in which somebody is typing,
 * or presses a button, stays as it is. A page without such parts is not fetched again: it may ask the partner. Without
 * this script, pages are as they were when they were opened.
 */
export const liveScript = `
'use strict';
let under = false, again = false;
// What takes the place of an element: a link to the same page, a part of the same name, a button that says the same.
function sameAs(element) {
  const name = ['href', 'aria-label', 'value'].find((one) => element.hasAttribute(one)) ?? 'id';
  return '[' + name + '="' + CSS.escape(element.getAttribute(name) ?? '') + '"]';
}
async function look() {
  if (!document.querySelector('[data-live]')) return;
  if (under) { again = true; return; }
  under = true;
  do {
    again = false;
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
      // While everything starts, too.
      if (!answer.ok && answer.status !== 503) break;
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const until = document.querySelector('[data-until]');
      if (until && !next.getElementById(until.id)) return location.reload();
      for (const old of document.querySelectorAll('[data-live]')) {
        const fresh = next.getElementById(old.id);
        const focus = document.activeElement;
        const isHeld = old.contains(focus);
        if (!fresh || fresh.outerHTML === old.outerHTML) continue;
        if (isHeld && focus.matches('input, select, textarea, button:active')) continue;
        const sameAsFocus = isHeld && sameAs(focus);
        const scrolled = [...old.querySelectorAll('.scrolls')].map((one) => [sameAs(one), one.scrollLeft]);
        old.replaceWith(document.adoptNode(fresh));
        for (const [same, left] of scrolled)
          for (const one of fresh.querySelectorAll(same)) one.scrollLeft = left;
        if (sameAsFocus) fresh.querySelector(sameAsFocus)?.focus({ preventScroll: true });
      }
    } catch { /* The console has ended; the stream says when it is back. */ }
  } while (again);
  under = false;
}
const stream = new EventSource('live?since=' + Math.floor(Date.now() - performance.now()));
stream.addEventListener('change', ({ data }) => {
  if (data === '' || location.pathname.endsWith('/' + data)) look();
});
let wasLost = false;
stream.addEventListener('error', () => { wasLost = true; });
stream.addEventListener('open', () => { if (wasLost) { wasLost = false; look(); } });
`;
