import * as z from 'zod';
import { problemsOf } from '../../../lambda/english.ts';
import type { ConformanceCheck } from '../check.ts';
import { noRecords } from '../comparing.ts';
import { type ListPage, newestFirst, type Samples } from '../samples.ts';
import { type CheckVerdict, cannotTell, contradiction, mismatch, pass } from '../verdict.ts';

const envelope = z.looseObject({ data: z.array(z.unknown()), meta: z.looseObject({}) });

/** Whether an answer has the right number of rows: as many as the size allows and the rest of the list has. */
function isCut(page: ListPage, size: number, offset: number): CheckVerdict {
  const expected = Math.max(0, Math.min(size, page.count - offset));
  return page.rows.length === expected
    ? pass
    : contradiction(
        `${expected} rows (size ${size}, offset ${offset}, count ${page.count})`,
        `${page.rows.length} rows`,
      );
}

/** Also section 8. */
export async function defaultSize(samples: Samples): Promise<CheckVerdict> {
  const page = await samples.first();
  if (page.page !== 50) return contradiction('page 50', `page ${page.page}`);
  const cut = isCut(page, 50, 0);
  if (cut.verdict === 'fail') return cut;
  return page.count > 50 ? cut : cannotTell('there are no more than 50 records');
}

/** Also section 8. */
export async function largestSize(samples: Samples): Promise<CheckVerdict> {
  const page = await samples.page({ page: '500' });
  const cut = isCut(page, 100, 0);
  if (cut.verdict === 'fail') return cut;
  return page.count > 100 ? cut : cannotTell('there are no more than 100 records');
}

async function skips(samples: Samples): Promise<CheckVerdict> {
  const { count } = await samples.first();
  if (count < 2) return cannotTell('there are fewer than two records');
  const offset = count - Math.min(3, count - 1);
  const end = await samples.page({ ...newestFirst, page: '10', offset: String(offset) });
  for (const [page, skipped] of [
    [end, offset],
    [await samples.middle(), await samples.middleOffset()],
  ] as const) {
    const cut = isCut(page, page === end ? 10 : 100, skipped);
    if (cut.verdict === 'fail') return cut;
  }
  return pass;
}

/** Ties may come in any order, but the days, which are the sort key, may not. */
async function skipsTheSame(samples: Samples): Promise<CheckVerdict> {
  const all = await samples.newest();
  const [offset, size] = [30, 20];
  const days = all.records.map(({ certified_on }) => certified_on);
  const expected = days.slice(offset, offset + size);
  if (expected.length < size || all.records.length < all.rows.length) {
    return cannotTell('there are too few records');
  }
  const first = days.slice(0, size);
  if (first.join() === expected.join()) return cannotTell('the newest records are all of one day');
  const page = await samples.page({ ...newestFirst, page: String(size), offset: String(offset) });
  const seen = page.records.map(({ certified_on }) => certified_on);
  if (seen.join() === expected.join()) return pass;
  if (page.count !== all.count) return cannotTell('the count changed while it was asked');
  return mismatch(
    `the days of rows ${offset} to ${offset + size} of the longer page (count ${all.count})`,
    `others (${seen[0] ?? 'none'} to ${seen.at(-1) ?? 'none'}, count ${page.count})`,
  );
}

export const pagingChecks: readonly ConformanceCheck[] = [
  {
    name: 'the answer is an object with data and meta',
    run: async (samples) => {
      const { status, body } = await samples.answer({});
      if (status !== 200) return mismatch('status 200', `status ${status}`);
      const { error } = envelope.safeParse(body);
      return error ? contradiction('data and meta', problemsOf(error).join('; ')) : pass;
    },
  },
  { name: 'the default page size is 50', run: defaultSize },
  {
    name: 'page is a size, not a number',
    run: async (samples) => {
      const page = await samples.page({ page: '7' });
      const cut = isCut(page, 7, 0);
      if (cut.verdict === 'fail') return cut;
      return page.count > 7 ? cut : cannotTell('there are no more than 7 records');
    },
  },
  { name: 'page sizes above 100 are reduced to 100', run: largestSize },
  { name: 'offset is the number of records to skip', run: skips },
  { name: 'a page that is skipped to continues the same list', run: skipsTheSame },
  {
    name: 'an offset past the end gives no rows and the same count',
    run: async (samples) => {
      const total = await samples.count();
      if (total === 0) return noRecords;
      const past = await samples.page({ page: '10', offset: String(total + 1_000) });
      if (past.rows.length > 0) return contradiction('no rows', `${past.rows.length} rows`);
      if (past.count === total || (await samples.countNow()) !== total) return pass;
      return mismatch(`count ${total}`, `count ${past.count}`);
    },
  },
];
