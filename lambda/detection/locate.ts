import type { Calendar, Span } from './calendar.ts';

/** Up to this many, a span is one request to read and needs no further question. */
export const rowsOfOnePage = 99;
/** Unless the ledger would have to be searched for more than this: what has gone is looked at in pieces. */
const mostExpected = 1_000;

/** `count`: to be answered with what the partner counts for the span. `read`: differs, read it. */
export interface Step {
  readonly kind: 'count' | 'read';
  readonly span: Span;
}

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
export function* locate(
  calendar: Calendar,
  total: number,
  recent: number,
): Generator<Step, void, number> {
  // Depth first, the more recent half on top.
  const differing: { readonly span: Span; readonly count: number }[] = [];
  const consider = (span: Span, count: number) => {
    if (span.first <= span.last && count !== calendar.sumOf(span)) differing.push({ span, count });
  };
  const halve = function* (
    span: Span,
    count: number,
    middle: number,
  ): Generator<Step, void, number> {
    const later = { first: middle, last: span.last };
    const inLater = yield { kind: 'count', span: later };
    consider({ first: span.first, last: middle - 1 }, count - inLater);
    consider(later, inLater);
  };

  const all = { first: 0, last: calendar.days.length - 1 };
  if (recent > 0) yield* halve(all, total, recent);
  else consider(all, total);

  for (let next = differing.pop(); next !== undefined; next = differing.pop()) {
    const { span, count } = next;
    const isSmall = count <= rowsOfOnePage && calendar.sumOf(span) <= mostExpected;
    if (span.first === span.last || isSmall) yield { kind: 'read', span };
    else yield* halve(span, count, Math.ceil((span.first + span.last) / 2));
  }
}
