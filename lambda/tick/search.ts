import { nextDue, type Waited, waitedForAudit } from '../detection/audit.ts';
import type { Calendar, Span } from '../detection/calendar.ts';
import type { RecentWindow } from '../detection/days.ts';
import { locateWithin, type Step } from '../detection/locate.ts';
import type { DayBookmark, Trail } from '../ports/state.ts';
import type { Budget, Examination } from './examination.ts';
import type { Looks } from './looks.ts';
import type { TickParts } from './parts.ts';
import type { TimeLimit } from './time-limit.ts';

/** Requests that locating and reading what differs may make in one tick. */
const searchRequests = 100;

/** Which days to examine: those whose counts differ, and those that were proven longest ago. */
export class Search {
  readonly #parts: TickParts;
  readonly #window: RecentWindow;
  readonly #limit: TimeLimit;
  readonly #examination: Examination;
  /** Of a search that has come to no end. */
  trail: Trail | undefined;

  constructor(parts: TickParts, window: RecentWindow, limit: TimeLimit, examination: Examination) {
    this.#parts = parts;
    this.#window = window;
    this.#limit = limit;
    this.#examination = examination;
  }

  /**
   * Examines the days on which the partner's count differs from the calendar's.
   *
   * @param trail where an earlier tick ran out of time: a slow host is searched further in each tick
   * @returns whether every difference was found and examined
   */
  async differences(total: number, trail: Trail | undefined): Promise<boolean> {
    const budget = { requests: searchRequests };
    const { calendar } = this.#examination;
    const isAllThere =
      trail === undefined ||
      (await this.#follow(locateWithin(calendar, spanOf(trail, calendar)), calendar, budget));
    if (this.trail !== undefined) return false;
    const now = this.#examination.calendar;
    const located = this.#parts.rules.locate(now, total, this.#recent(now));
    const isAll = await this.#follow(located, now, budget);
    return isAll && isAllThere;
  }

  async #follow(
    search: Generator<Step, void, number>,
    calendar: Calendar,
    budget: Budget,
  ): Promise<boolean> {
    const { partner } = this.#parts;
    let isAll = true;
    let answer = 0;
    for (;;) {
      const step = search.next(answer);
      if (step.done) return isAll;
      const { kind, span, within } = step.value;
      const breakOff = () => {
        this.trail = within && trailOf(within, calendar);
        return false;
      };
      if (budget.requests <= 0 || this.#limit.noteIfReached()) return breakOff();
      if (kind === 'count') {
        budget.requests -= 1;
        const range = calendar.rangeOf(span);
        const count = await this.#limit.ask((deadline) => partner.count(range, deadline));
        if (count === 'out-of-time') return breakOff();
        answer = count;
      } else if (!(await this.#examine(span, calendar, budget))) {
        if (this.#limit.wasReached || this.#examination.wasInVain) return breakOff();
        isAll = false;
      }
    }
  }

  /** Goes on with the day that does not fit into one tick. */
  async resume({ day, range }: DayBookmark): Promise<void> {
    await this.#examination.examine({ days: [day], range }, { requests: searchRequests });
  }

  /**
   * Proves days again that are due: those whose looks for what they lack are, and those that nothing
   * suggests have changed, as far as the requests go.
   * @param isForLooks nothing but looks: audits have taken more requests than they may
   * @returns requests made beyond these: a read is not stopped half-way
   */
  async audit(requests: number, looks: Looks, isForLooks: boolean): Promise<number> {
    const { clock } = this.#parts;
    const budget = { requests };
    this.#examination.isAudit = true;
    while (budget.requests > 0) {
      const { calendar } = this.#examination;
      const now = clock.now().epochMilliseconds;
      const span = nextDue(calendar, this.#waited(calendar, looks, isForLooks, now));
      if (span === undefined) break;
      await this.#examine(span, calendar, budget);
      // Time is up, or the host does not answer in it.
      if (this.#examination.calendar === calendar) break;
    }
    return Math.max(0, -budget.requests);
  }

  /** A look has waited since it was due, in the time between two; what is asked for by ids waits for more of these. */
  #waited(calendar: Calendar, looks: Looks, isForLooks: boolean, nowMs: number): Waited {
    const { audit, withdrawAfterMs } = this.#parts.settings;
    const forAudit = isForLooks
      ? () => 0
      : waitedForAudit(calendar, this.#recent(calendar), nowMs, audit);
    const due = new Map(
      looks
        .due(calendar)
        .filter(({ at }) => at <= nowMs)
        .map(({ day, at }) => [calendar.positionOf(day), 1 + (nowMs - at) / withdrawAfterMs]),
    );
    return (position) => Math.max(forAudit(position), due.get(position) ?? 0);
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

const trailOf = ({ first, last }: Span, { days }: Calendar): Trail | undefined => {
  const [from, to] = [days[first], days[last]];
  return from === undefined || to === undefined ? undefined : { from, to };
};

const spanOf = ({ from, to }: Trail, calendar: Calendar): Span => ({
  first: calendar.positionOf(from),
  last: calendar.positionOf(to),
});
