import type { Calendar, Span } from './calendar.ts';

/** Up to this many, a span is one request to read and needs no further question. */
export const rowsOfOnePage = 99;
/** Unless the ledger would have to be searched for more than this: what has gone is looked at in pieces. */
export const mostKnown = 1_000;

/** `count`: to be answered with what the partner counts for the span. `read`: differs, read it. */
export interface Step {
  readonly kind: 'count' | 'read';
  readonly span: Span;
  /** Known to differ, and narrowed by this step. */
  readonly within?: Span;
}

/** What the partner counts for these days is not what the calendar has. */
interface Differing {
  readonly span: Span;
  readonly count: number;
  /** Read where something was missing, and it differs all the same. */
  readonly isRead?: true;
}

/**
 * A `count` is answered with what the partner counts for the span, a `read` with what the calendar has of it by then.
 */
type Search = Generator<Step, void, number>;

/**
 * Finds the days on which the partner's count differs from the calendar's, by bisection.
 *
 * A generator that asks, is answered, and names what to read as it finds it, the most recent first.
 * A span's count minus that of one half is the other half's, so each level costs one question: a
 * record backdated ten years takes about twelve. Recent days are asked about first, because that is
 * where most changes are.
 *
 * Counts are asked for at different moments. A change in between can send it to a day where nothing
 * differs, or hide a difference until the next time; it cannot make a read wrong.
 *
 * @param total what the partner counts altogether
 * @param recent position of the recent window's first day
 */
export function* locate(calendar: Calendar, total: number, recent: number): Search {
  const all = { span: { first: 0, last: calendar.days.length - 1 }, count: total };
  if (recent === 0) return yield* narrow(calendar, [all]);
  const later = { first: recent, last: all.span.last };
  const inLater = yield { kind: 'count', span: later };
  yield* narrow(calendar, [
    { span: { first: 0, last: recent - 1 }, count: total - inLater },
    { span: later, count: inLater },
  ]);
}

/**
 * The same among these days alone: where an earlier search ran out of time. They did differ then, so what
 * is small enough to be read is read, also if the counts agree by now: one may have come for one that went.
 */
export function* locateWithin(calendar: Calendar, span: Span): Search {
  const count = yield { kind: 'count', span, within: span };
  if (isReadable(calendar, { span, count })) yield { kind: 'read', span, within: span };
  else yield* narrow(calendar, [{ span, count }]);
}

/** Depth first, the last and the more recent half first. */
function* narrow(calendar: Calendar, counted: readonly Differing[]): Search {
  const differs = ({ span, count }: Differing) =>
    span.first <= span.last && count !== calendar.sumOf(span);
  const differing = counted.filter(differs);
  for (let next = differing.pop(); next !== undefined; next = differing.pop()) {
    const { span, count } = next;
    if (isReadable(calendar, next)) {
      yield { kind: 'read', span, within: span };
      continue;
    }
    if (!next.isRead && count === calendar.knownOf(span)) {
      const now = yield* readMissing(calendar, span);
      if (now !== count) differing.push({ ...next, isRead: true });
      continue;
    }
    const middle = Math.ceil((span.first + span.last) / 2);
    const later = { first: middle, last: span.last };
    const inLater = yield { kind: 'count', span: later, within: span };
    const halves = [
      { span: { first: span.first, last: middle - 1 }, count: count - inLater },
      { span: later, count: inLater },
    ];
    differing.push(...halves.filter(differs));
  }
}

/**
 * As many have come as were missing: these are back, as after an outage. So the days on which they were missing are
 * read, a page's worth at a time, and nothing more is asked.
 *
 * @returns what the calendar has of the span by then
 */
function* readMissing(calendar: Calendar, span: Span): Generator<Step, number, number> {
  let now = calendar.sumOf(span);
  for (let { last } = span; last >= span.first; ) {
    let page: Span = { first: last, last };
    for (; page.first > span.first; page = { first: page.first - 1, last })
      if (calendar.knownOf({ first: page.first - 1, last }) > rowsOfOnePage) break;
    if (calendar.knownOf(page) > calendar.sumOf(page))
      now += (yield { kind: 'read', span: page, within: page }) - calendar.sumOf(page);
    last = page.first - 1;
  }
  return now;
}

/** Without narrowing it down any further. */
function isReadable(calendar: Calendar, { span, count }: Differing): boolean {
  const isSmall = count <= rowsOfOnePage && calendar.knownOf(span) <= mostKnown;
  return span.first === span.last || isSmall;
}
