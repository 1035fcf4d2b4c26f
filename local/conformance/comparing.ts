import type { DocumentedRecord } from '../documented-record.ts';
import type { Params } from './host.ts';
import type { Samples } from './samples.ts';
import { type CheckVerdict, cannotTell, contradiction, mismatch, pass } from './verdict.ts';

export const noRecords = cannotTell('there are no records');

/**
 * The counts of `parts` add up to the count of `whole`.
 *
 * If they do not, the whole is counted again, which reveals a change in between.
 */
export async function addsUp(
  samples: Samples,
  whole: Params,
  parts: readonly Params[],
): Promise<CheckVerdict> {
  const before = await samples.count(whole);
  let sum = 0;
  for (const part of parts) sum += await samples.count(part);
  if (sum === before) return before === 0 ? noRecords : pass;
  const after = await samples.countNow(whole);
  if (sum === after) return pass;
  if (after !== before) return cannotTell('the count changed while it was asked');
  return mismatch(
    `count ${before}`,
    parts.length === 1 ? `count ${sum}` : `counts that sum to ${sum}`,
  );
}

/**
 * A filter that a sampled record passes. It has to return some rows, and none that it excludes. If every sampled record
 * passes it, a host that ignores the filter is not noticed.
 */
export async function narrowsTo(
  samples: Samples,
  params: Params,
  matches: (record: DocumentedRecord) => boolean,
  what: string,
): Promise<CheckVerdict> {
  const { records, rows, count } = await samples.page({ ...params, page: '100' });
  const others = records.filter((record) => !matches(record)).length;
  if (others > 0) {
    return contradiction(`only ${what}`, `${others} of ${records.length} rows are others`);
  }
  if (rows.length === 0) {
    return mismatch(`${what}: at least the one listed before`, `count ${count}`);
  }
  if ((await samples.records()).every(matches)) {
    return cannotTell('every record that was seen passes the filter');
  }
  return pass;
}

/** A filter that no record can pass. */
export async function matchesNothing(samples: Samples, params: Params): Promise<CheckVerdict> {
  if ((await samples.first()).count === 0) return noRecords;
  const { count, rows } = await samples.page({ ...params, page: '1' });
  if (count === 0 && rows.length === 0) return pass;
  return mismatch('no data and count 0', `${rows.length} rows and count ${count}`);
}

/** An ID above all assigned ones, within the range of a 32-bit column. */
export const unusedId = 2_147_483_646;

/** The value that most elements have. */
export function mostFrequent<T>(values: readonly T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0];
}
