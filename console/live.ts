import type { Door } from './door.ts';
import { type Context, streamSSE } from './library.ts';

/** Proxies and browsers close connections without traffic. */
const signOfLifeMs = 15_000;

/** Makes open pages look again: all of them, or the one of this path. */
export type Changed = (path?: string) => void;

/** Reports changes to open pages. The deployment is looked at only while a page is open. */
export class Live {
  readonly #door: Door;
  readonly #open = new Set<Changed>();
  #looking: AbortController | undefined;
  /** Milliseconds since the epoch, by the clock of this machine, which the browser shares. */
  #changedAt = 0;

  constructor(door: Door) {
    this.#door = door;
  }

  /** Makes each open page look again, or the one of this path. */
  readonly changed: Changed = (path) => {
    this.#changedAt = Date.now();
    for (const tell of this.#open) tell(path);
  };

  /** The stream of one open page. The page says when it was opened; a change since then is reported at once. */
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
 * The script in the browser. After a change it fetches the page again and replaces its live parts. They keep their
 * scroll position and the focus; a part in which the user types or presses a button stays as it is. A page without live
 * parts is not fetched again, since it may ask the partner. Without this script, a page stays as it was opened.
 */
export const liveScript = `
'use strict';
let under = false, again = false;
// The selector of an element's successor: a link to the same page, a part of the same name, or a button with the same text.
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
      // 503 while everything starts.
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
    } catch { /* The console has ended; the stream reports its return. */ }
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
