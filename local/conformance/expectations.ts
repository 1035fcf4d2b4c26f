import type * as z from 'zod/mini';
import { inEnglish, problemsOf } from '../../lambda/english.ts';
import type { HttpRequest } from '../../lambda/partner/transport.ts';
import type { DocumentedRecord } from '../documented-record.ts';
import { ask, askAgain, count, type Next, page, type Question, type Seen } from './question.ts';
import type { Params } from './requests.ts';
import {
  type CheckVerdict,
  cannotTell,
  contradiction,
  mismatch,
  noRecords,
  pass,
} from './verdict.ts';

/** An ID above all assigned ones, within the range of a 32-bit column. */
export const unusedId = 2_147_483_646;

/** The value that most elements have. */
export function mostFrequent<T>(values: readonly T[]): T | undefined {
  const groups = Map.groupBy(values, (value) => value);
  return [...groups].sort(([, one], [, other]) => other.length - one.length)[0]?.[0];
}

/** Of a single answer. */
export const must = (isTrue: boolean, expected: string, seen: string): CheckVerdict =>
  isTrue ? pass : contradiction(expected, seen);

export function all<T>(
  values: readonly T[],
  isRight: (value: T) => boolean,
  expected: string,
  otherwise: string,
): CheckVerdict {
  const wrong = values.filter((value) => !isRight(value)).length;
  if (values.length === 0) return noRecords;
  return must(wrong === 0, expected, `${wrong} of ${values.length} ${otherwise}`);
}

export function fits(
  schema: z.ZodMiniType,
  value: unknown,
  trouble: (problems: string) => CheckVerdict,
): CheckVerdict {
  const { error } = schema.safeParse(value, inEnglish);
  return error ? trouble(problemsOf(error).join('; ')) : pass;
}

export const answers = (status: number, request: HttpRequest, what = ''): Question =>
  ask(request, (answer) =>
    answer.status === status
      ? pass
      : mismatch(`status ${status}`, `${what}status ${answer.status}`),
  );

/** A filter that a sampled record passes: it returns some rows, and none that it excludes. */
export const selects = (
  params: Params,
  what: string,
  isRight: (record: DocumentedRecord) => boolean,
): Question =>
  page({ ...params, page: '100' }, ({ records, rows, count }) =>
    rows.length === 0
      ? mismatch(`the record of ${what} that was listed before`, `count ${count}`)
      : all(records, isRight, `only records of ${what}`, 'rows are others'),
  );

/** If every sampled record passes it, a host that ignores the filter is not noticed. */
export const narrows = (
  params: Params,
  what: string,
  isRight: (record: DocumentedRecord) => boolean,
  seen: Seen,
): Next => [
  selects(params, what, isRight),
  seen.records.every(isRight) ? cannotTell('every record that was seen passes the filter') : pass,
];

/** A filter that no record can pass. */
export const matchesNothing = (params: Params): Question =>
  page({}, (first) =>
    first.count === 0
      ? noRecords
      : page({ ...params, page: '1' }, ({ count, rows }) =>
          count === 0 && rows.length === 0
            ? pass
            : mismatch('no data and count 0', `${rows.length} rows and count ${count}`),
        ),
  );

/** The record is listed with these filters and its day. */
export const lists = ({ id, certified_on }: DocumentedRecord, params: Params): Question =>
  page({ ...params, ...onDay(certified_on), page: '100' }, ({ records, count }) => {
    if (records.some((record) => record.id === id)) return pass;
    return count > 100
      ? cannotTell('that day has more records than a page')
      : mismatch('the record listed before', `${records.length} rows without it`);
  });

export const onDay = (day: string) => ({ 'filter[start_date]': day, 'filter[end_date]': day });

/** The answers are not of one moment. */
export const changed = cannotTell('the count changed while it was asked');

const sumOf = ([part, ...rest]: readonly Params[], judge: (sum: number) => Next, sum = 0): Next =>
  part === undefined ? judge(sum) : count(part, (each) => sumOf(rest, judge, sum + each));

/**
 * Judges the count of the whole and the sum of the counts of its parts. If they fail, the whole is counted again, which
 * reveals a change in between.
 */
export const sums = (
  whole: Params,
  parts: readonly Params[],
  judge: (all: number, sum: number) => CheckVerdict,
): Question =>
  count(whole, (before) =>
    sumOf(parts, (sum) => {
      const verdict = judge(before, sum);
      if (verdict.verdict !== 'fail') return verdict;
      return askAgain(
        count(whole, (after) => {
          const second = judge(after, sum);
          return after === before || second.verdict !== 'fail' ? second : changed;
        }),
      );
    }),
  );

export const addsUp = (whole: Params, ...parts: readonly Params[]): Question =>
  sums(whole, parts, (all, sum) => {
    if (sum === all) return all === 0 ? noRecords : pass;
    const seen = parts.length === 1 ? `count ${sum}` : `counts that sum to ${sum}`;
    return mismatch(`count ${all}`, seen);
  });

/** The values of a filter divide the records that pass any of them. */
export const divides = (filter: string, values: readonly string[]): Question =>
  addsUp({ [filter]: values }, ...values.map((value) => ({ [filter]: value })));
