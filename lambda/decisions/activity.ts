import * as z from 'zod/mini';

/** The work of a tick, or of all ticks of an hour. */
export interface Activity {
  /** Requests to the partner, token requests included. */
  readonly requests: number;
  /** Committed changes, held ones included. */
  readonly found: number;
  /** Of these, held by the gate. */
  readonly held: number;
  readonly failed: number;
}

/** A tick, and the minutes since the one before it. */
interface TickActivity extends Activity {
  readonly afterMinutes: number;
}

/** The last ticks and hourly sums, the newest first, hours without a gap. */
export interface Activities {
  /** When the newest tick ended: minutes since the epoch. */
  readonly minute: number;
  readonly ticks: readonly TickActivity[];
  readonly hours: readonly Activity[];
}

const ticksKept = 30;
const hoursKept = 24;
const hourMinutes = 60;
const nothing: Activity = { requests: 0, found: 0, held: 0, failed: 0 };

/**
 * Of two ticks that end at the same time, one is lost.
 * @param nowMs milliseconds since the epoch
 */
export function activityAfter(
  before: Activities | undefined,
  tick: Activity,
  nowMs: number,
): Activities {
  const now = Math.floor(nowMs / 60_000);
  const { minute: last, ticks, hours } = before ?? { minute: now - 1, ticks: [], hours: [] };
  // After a clock was set back, time stands still here.
  const minute = Math.max(now, last);
  const passed = Math.floor(minute / hourMinutes) - Math.floor(last / hourMinutes);
  const begun = Array.from({ length: Math.min(passed, hoursKept) }, () => nothing);
  const [sum = nothing, ...earlier] = [...begun, ...hours];
  const hour = {
    requests: sum.requests + tick.requests,
    found: sum.found + tick.found,
    held: sum.held + tick.held,
    failed: sum.failed + tick.failed,
  };
  return {
    minute,
    ticks: [{ ...tick, afterMinutes: minute - last }, ...ticks].slice(0, ticksKept),
    hours: [hour, ...earlier].slice(0, hoursKept),
  };
}

/**
 * Limit for the characters of ticks, and of hours; quiet ones take 60 and 72. Each quiet tick pays
 * for the state's size, and up to 1 KB that is one write unit. Where floods need more room, the
 * oldest are given up.
 */
const charactersKept = 150;

/**
 * The form in the state: `minute;ticks;hours`, all numbers in base 36. A tick is
 * `requests.gap.found.held.failed`, without zeros at its end, and a comma. Its gap is the minutes
 * since the tick before, less one. An hour has the same form, with a gap of 0.
 */
export const activities = z.codec(
  z.string().check(z.regex(/^[0-9a-z]+(;[-0-9a-z.,]*){2}$/)),
  z.custom<Activities>(),
  {
    decode(text) {
      const [minute = '', ...parts] = text.split(';');
      const [ticks = [], hours = []] = parts.map((part) =>
        part
          .split(',')
          .slice(0, -1)
          .map((row): TickActivity => {
            const numbers = row.split('.').map((number) => Number.parseInt(number || '0', 36));
            const [requests = 0, gap = 0, found = 0, held = 0, failed = 0] = numbers;
            return { requests, found, held, failed, afterMinutes: gap + 1 };
          }),
      );
      const sums = hours.map(({ afterMinutes: _, ...sum }) => sum);
      return { minute: Number.parseInt(minute, 36), ticks, hours: sums };
    },
    encode({ minute, ticks, hours }) {
      const lists = [ticks, hours.map((hour) => ({ ...hour, afterMinutes: 1 }))].map((list) => {
        const text = list
          .map(({ requests, afterMinutes, found, held, failed }) =>
            [requests, afterMinutes - 1, found, held, failed]
              .map((number) => (number === 0 ? '' : number.toString(36)))
              .join('.')
              .replace(/\.*$/, ','),
          )
          .join('');
        return text.slice(0, text.lastIndexOf(',', charactersKept - 1) + 1);
      });
      return [minute.toString(36), ...lists].join(';');
    },
  },
);
