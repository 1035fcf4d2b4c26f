import { Temporal } from 'temporal-polyfill';
import { daysFrom } from '../../../lambda/decisions/days.ts';
import type { ConformanceCheck } from '../check.ts';
import { addsUp, matchesNothing, mostFrequent, noRecords } from '../comparing.ts';
import type { Params } from '../host.ts';
import { newestFirst, oldestFirst, type Samples } from '../samples.ts';
import { type CheckVerdict, cannotTell, contradiction, mismatch, pass } from '../verdict.ts';

const farAhead = '2999-01-01';
const [start, end] = ['filter[start_date]', 'filter[end_date]'];

/** A day from the middle of the list that many records have. */
export async function busyDay(samples: Samples): Promise<string | undefined> {
  const { records } = await samples.middle();
  return mostFrequent(records.map(({ certified_on }) => certified_on));
}

/** @returns undefined beyond the calendar: a host need not understand such a day */
const dayBeside = (day: string, days: 1 | -1): string | undefined =>
  daysFrom(Temporal.PlainDate.from(day), days)?.toString();

type Bound = 'start' | 'end';

/** With this order, the bound is the first key, so the first row must have its day. */
async function isInclusive(samples: Samples, bound: Bound): Promise<CheckVerdict> {
  const day = await busyDay(samples);
  if (day === undefined) return noRecords;
  const { records } = await samples.page(
    bound === 'start' ? { ...oldestFirst, [start]: day } : { ...newestFirst, [end]: day },
  );
  const outside = records.filter(({ certified_on }) =>
    bound === 'start' ? certified_on < day : certified_on > day,
  ).length;
  const side = bound === 'start' ? 'after' : 'before';
  if (outside > 0) {
    return contradiction(
      `only records of ${day} and ${side}`,
      `${outside} of ${records.length} rows are others`,
    );
  }
  const [first] = records;
  if (first?.certified_on === day) return pass;
  return mismatch(
    `records of ${day} itself, one of which was listed before`,
    first === undefined ? 'no rows' : `none: the first is of ${first.certified_on}`,
  );
}

/** A range without records: far ahead, else behind the newest, else before the oldest. */
async function emptyRange(samples: Samples): Promise<Params | undefined> {
  const [newest] = (await samples.newest()).records;
  if (newest === undefined || newest.certified_on < farAhead) return { [start]: farAhead };
  const after = dayBeside(newest.certified_on, 1);
  if (after !== undefined) return { [start]: after };
  const [oldest = newest] = (await samples.page(oldestFirst)).records;
  const before = dayBeside(oldest.certified_on, -1);
  return before === undefined ? undefined : { [end]: before };
}

/** Ranges that meet without a gap or an overlap, the last one open. */
export function splitAt(days: readonly string[]): Record<string, string>[] {
  return [
    ...days.flatMap((day, index): Record<string, string>[] => {
      const [from, to] = [days[index - 1], dayBeside(day, -1)];
      return to === undefined ? [] : [{ ...(from !== undefined && { [start]: from }), [end]: to }];
    }),
    { [start]: days.at(-1) ?? '' },
  ];
}

export const dateChecks: readonly ConformanceCheck[] = [
  {
    name: 'start_date includes its own day',
    run: (samples) => isInclusive(samples, 'start'),
  },
  {
    name: 'end_date includes its own day',
    run: (samples) => isInclusive(samples, 'end'),
  },
  {
    name: 'a range of one day has the records of that day',
    run: async (samples) => {
      const day = await busyDay(samples);
      if (day === undefined) return noRecords;
      const { records } = await samples.page({ ...oldestFirst, [start]: day, [end]: day });
      const others = records.filter(({ certified_on }) => certified_on !== day).length;
      if (others > 0) return contradiction(`only ${day}`, `${others} rows are of other days`);
      return records.length > 0 ? pass : mismatch(`records of ${day}`, 'no rows');
    },
  },
  {
    name: 'the records before, on and after a day are all records',
    run: async (samples) => {
      const day = await busyDay(samples);
      if (day === undefined) return noRecords;
      return await addsUp(samples, {}, splitAt([day, dayBeside(day, 1) ?? []].flat()));
    },
  },
  {
    name: 'a range without records is a success with count 0',
    run: async (samples) => {
      const empty = await emptyRange(samples);
      if (empty !== undefined) return await matchesNothing(samples, empty);
      return cannotTell('the first and the last day of the calendar have records');
    },
  },
];
