import { Temporal } from 'temporal-polyfill';
import type { ConformanceCheck } from '../check.ts';
import { addsUp, matchesNothing, mostFrequent, noRecords } from '../comparing.ts';
import { newestFirst, oldestFirst, type Samples } from '../samples.ts';
import { type CheckVerdict, contradiction, mismatch, pass } from '../verdict.ts';

const [start, end] = ['filter[start_date]', 'filter[end_date]'];

/** A day from the middle of the list that many records have. */
export async function busyDay(samples: Samples): Promise<string | undefined> {
  const { records } = await samples.middle();
  return mostFrequent(records.map(({ certified_on }) => certified_on));
}

function daysFrom(day: string, days: number): string {
  return Temporal.PlainDate.from(day).add({ days }).toString();
}

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

/** Ranges that meet without a gap or an overlap, the last one open. */
export function splitAt(days: readonly string[]): Record<string, string>[] {
  return [
    ...days.map((day, index) => {
      const from = days[index - 1];
      return { ...(from !== undefined && { [start]: from }), [end]: daysFrom(day, -1) };
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
      return await addsUp(samples, {}, splitAt([day, daysFrom(day, 1)]));
    },
  },
  {
    name: 'a range without records is a success with count 0',
    run: (samples) => matchesNothing(samples, { [start]: '2999-01-01' }),
  },
];
