import { nextAudit } from '../detection/audit.ts';
import type { Calendar, Span } from '../detection/calendar.ts';
import type { RecentWindow } from '../detection/days.ts';
import { locate } from '../detection/locate.ts';
import type { TickParts } from '../parts.ts';
import type { DayBookmark } from '../ports.ts';
import type { Budget, Examination } from './examination.ts';
import type { TimeLimit } from './time-limit.ts';

/** Requests that locating and reading what differs may make in one tick. */
const searchRequests = 100;

/** Which days to examine: those whose counts differ, and those that were proven longest ago. */
export class Search {
  readonly #parts: TickParts;
  readonly #window: RecentWindow;
  readonly #limit: TimeLimit;
  readonly #examination: Examination;

  constructor(parts: TickParts, window: RecentWindow, limit: TimeLimit, examination: Examination) {
    this.#parts = parts;
    this.#window = window;
    this.#limit = limit;
    this.#examination = examination;
  }

  /**
   * Examines the days on which the partner's count differs from the calendar's.
   * @returns whether every difference was found and examined
   */
  async differences(total: number): Promise<boolean> {
    const { partner } = this.#parts;
    const { calendar } = this.#examination;
    const budget = { requests: searchRequests };
    const search = locate(calendar, total, this.#recent(calendar));
    let isAll = true;
    let answer = 0;
    for (;;) {
      const step = search.next(answer);
      if (step.done) return isAll;
      if (budget.requests <= 0 || this.#limit.reached) return false;
      const { kind, span } = step.value;
      if (kind === 'count') {
        budget.requests -= 1;
        const range = calendar.rangeOf(span);
        const count = await this.#limit.ask((deadline) => partner.count(range, deadline));
        if (count === 'late') return false;
        answer = count;
      } else isAll = (await this.#examine(span, calendar, budget)) && isAll;
    }
  }

  /** Goes on with the day that does not fit into one tick. */
  async resume({ day, range }: DayBookmark): Promise<void> {
    await this.#examination.examine({ days: [day], range }, { requests: searchRequests });
  }

  /**
   * Proves days again that nothing suggests have changed, as far as the requests go.
   * @returns requests made beyond these: a read is not stopped half-way
   */
  async audit(requests: number): Promise<number> {
    const { settings, clock } = this.#parts;
    const budget = { requests };
    this.#examination.isAudit = true;
    while (budget.requests > 0) {
      const { calendar } = this.#examination;
      const now = clock.now().epochMilliseconds;
      const span = nextAudit(calendar, this.#recent(calendar), now, settings.audit);
      if (span === undefined) break;
      await this.#examine(span, calendar, budget);
      // Time is up, or the host does not answer in it.
      if (this.#examination.calendar === calendar) break;
    }
    return Math.max(0, -budget.requests);
  }

  #examine(span: Span, calendar: Calendar, budget: Budget): Promise<boolean> {
    const stretch = { days: calendar.daysOf(span), range: calendar.rangeOf(span) };
    return this.#examination.examine(stretch, budget);
  }

  /** Position of the recent window's first day. */
  #recent(calendar: Calendar): number {
    return calendar.positionOf(this.#window.from.toString());
  }
}
