import * as z from 'zod/mini';
import type { DocumentedRecord } from '../../documented-record.ts';
import { addsUp, answers, changed, fits, must } from '../expectations.ts';
import { type Direction, fitOf, type NameSort, nameOrders } from '../name-orders.ts';
import {
  ask,
  atMiddle,
  type Checks,
  count,
  dayOf,
  type ListPage,
  look,
  middleOf,
  type Next,
  newestFirst,
  oldestFirst,
  page,
} from '../question.ts';
import { list, type Params } from '../requests.ts';
import { type CheckVerdict, cannotTell, contradiction, mismatch, pass } from '../verdict.ts';

const natural = z.int().check(z.nonnegative());
const counts = z.looseObject({
  meta: z.looseObject({ count: natural, offset: natural, page: z.int().check(z.positive()) }),
});
const envelope = z.looseObject({ data: z.array(z.unknown()), meta: z.looseObject({}) });

const bodyFits = (schema: z.ZodMiniType, expected: string): Next =>
  ask(list({}), ({ body }) => fits(schema, body, (seen) => contradiction(expected, seen)));

const holdsItsRows = ({ rows, offset, count }: ListPage): CheckVerdict => {
  const isWithin = rows.length === 0 || offset + rows.length <= count;
  return must(isWithin, 'count of all pages', 'more rows than count');
};

const echoes = (asked: string, applied: number): Next =>
  page({ page: asked }, ({ page }) =>
    must(page === applied, `page ${applied} in meta for page=${asked}`, `page ${page}`),
  );

export const metadata: Checks = {
  'meta has count, offset and page': bodyFits(counts, 'three integers'),
  'count ignores paging': [
    look(({ pages }) => pages.map(holdsItsRows)),
    addsUp({}, { page: '7' }),
    addsUp({}, newestFirst),
  ],
  'offset is the one applied': atMiddle(({ offset }, first) => {
    const asked = middleOf(first);
    return asked === 0
      ? cannotTell('there are fewer than two records')
      : must(offset === asked, `offset ${asked} in meta, as asked for`, `offset ${offset}`);
  }),
  'page is the size applied, after the cap': [echoes('7', 7), echoes('500', 100)],
};

/** Whether an answer has the right number of rows: as many as the size allows and the rest of the list has. */
function isCut({ rows, count }: ListPage, size: number, offset = 0): CheckVerdict {
  const expected = Math.max(0, Math.min(size, count - offset));
  const wanted = `${expected} rows (size ${size}, offset ${offset}, count ${count})`;
  return must(rows.length === expected, wanted, `${rows.length} rows`);
}

const hasSize = (params: Params, size: number): Next =>
  page(params, (page) => [
    isCut(page, size),
    page.count > size ? pass : cannotTell(`there are no more than ${size} records`),
  ]);

const defaultSize: Next = [
  page({}, ({ page }) => must(page === 50, 'page 50', `page ${page}`)),
  hasSize({}, 50),
];
const largestSize = hasSize({ page: '500' }, 100);

export const pageLimits: Checks = {
  'the largest page is 100': largestSize,
  'the default page is 50': defaultSize,
  'the default offset is 0': page({}, ({ offset }) =>
    must(offset === 0, 'offset 0', `offset ${offset}`),
  ),
};

const skips = atMiddle((middle, first) => {
  const { count } = first;
  if (count < 2) return cannotTell('there are fewer than two records');
  const offset = count - Math.min(3, count - 1);
  return page({ ...newestFirst, page: '10', offset: String(offset) }, (end) => [
    isCut(end, 10, offset),
    isCut(middle, 100, middleOf(first)),
  ]);
});

/** Ties may come in any order, but the days, which are the sort key, may not. */
const continues = page(newestFirst, ({ records, rows, count }) => {
  const [offset, size] = [30, 20];
  const days = records.map(dayOf);
  const expected = days.slice(offset, offset + size).join();
  if (records.length < Math.max(rows.length, offset + size)) {
    return cannotTell('there are too few records');
  }
  if (days.slice(0, size).join() === expected) {
    return cannotTell('the newest records are all of one day');
  }
  return page({ ...newestFirst, page: String(size), offset: String(offset) }, (part) => {
    const seen = part.records.map(dayOf);
    if (seen.join() === expected) return pass;
    if (part.count !== count) return changed;
    return mismatch(
      `the days of rows ${offset} to ${offset + size} of the longer page (count ${count})`,
      `others (${seen[0] ?? 'none'} to ${seen.at(-1) ?? 'none'}, count ${part.count})`,
    );
  });
});

export const paging: Checks = {
  'the answer is an object with data and meta': [
    answers(200, list({})),
    bodyFits(envelope, 'data and meta'),
  ],
  'the default page size is 50': defaultSize,
  'page is a size, not a number': hasSize({ page: '7' }, 7),
  'page sizes above 100 are reduced to 100': largestSize,
  'offset is the number of records to skip': skips,
  'a page that is skipped to continues the same list': continues,
  'an offset past the end gives no rows and the same count': count({}, (total) => {
    const past = { page: '10', offset: String(total + 1_000) };
    return [
      page(past, ({ rows }) => must(rows.length === 0, 'no rows', `${rows.length} rows`)),
      addsUp({}, past),
    ];
  }),
};

function isByDay({ records }: ListPage, direction: Direction): CheckVerdict {
  const byDay = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
  const { unequal, wrong } = fitOf(records.map(dayOf), byDay, direction);
  const expected = direction === 'ASC' ? 'oldest first' : 'newest first';
  return unequal === 0
    ? cannotTell('the rows do not differ in their day')
    : must(wrong === 0, expected, `${wrong} of ${records.length} rows are out of order`);
}

const byDay = (direction: Direction, params: Params): Next =>
  page({ ...params, page: '100' }, (page) => isByDay(page, direction));

const alike = cannotTell('the rows do not differ in that name');

/**
 * The document names neither the key of a name sort nor its collation. So a page is compared with every plausible
 * order. A sorted page agrees with one of them nearly everywhere; an unsorted page is wrong at every second row.
 */
function isByName({ records }: ListPage, sort: NameSort, direction: Direction): CheckVerdict {
  const fits = nameOrders[sort].map(({ compare }) => fitOf(records, compare, direction));
  const telling = fits.filter(({ unequal }) => unequal > 0);
  const [best] = telling.sort((one, other) => one.share - other.share);
  if (best && best.share <= 0.1) return pass;
  // A key that is equal in all rows cannot show a wrong order.
  if (best === undefined || telling.length < fits.length) return alike;
  return best.wrong >= 3 && best.share > 0.3
    ? contradiction(
        `${direction} by some reading of the name`,
        `${best.wrong} of ${best.unequal} neighbours are the wrong way round by the best of them`,
      )
    : cannotTell('the rows are partly in the order of any reading of the name');
}

/**
 * Compares the first row of ASC with the first of DESC. If more records share the first name than a page holds, only
 * these rows distinguish the orders.
 */
function endsDiffer(
  sort: NameSort,
  [first]: readonly DocumentedRecord[],
  [last]: readonly DocumentedRecord[],
  seen: readonly DocumentedRecord[],
): CheckVerdict {
  if (first === undefined || last === undefined) return alike;
  const orders = nameOrders[sort].map(({ compare }) => compare);
  const [way, ...otherWays] = new Set(orders.map((compare) => Math.sign(compare(first, last))));
  if (otherWays.length > 0) return alike;
  if (way === -1) return pass;
  if (way === 1) return mismatch('ASC begins before DESC', 'DESC begins before ASC');
  return orders.every((compare) => seen.some((record) => compare(first, record) !== 0))
    ? mismatch('ASC and DESC begin with different names', 'they begin with the same one')
    : alike;
}

const byName = (sort: NameSort): Next =>
  page({ sort, order: 'ASC', page: '100' }, (up) =>
    page({ sort, order: 'DESC', page: '100' }, (down) =>
      look(({ records }) => {
        const pages = [isByName(up, sort, 'ASC'), isByName(down, sort, 'DESC')];
        const ends = endsDiffer(sort, up.records, down.records, records);
        if (ends === pass) return pages.filter((page) => page !== alike);
        return ends === alike ? pages : [...pages, ends];
      }),
    ),
  );

export const sorting: Checks = {
  'the default is certified_on, ASC': byDay('ASC', {}),
  'sort=certified_on sorts, in both orders': [
    byDay('DESC', newestFirst),
    atMiddle((middle) => isByDay(middle, 'ASC')),
    byDay('ASC', oldestFirst),
  ],
  'sort=user_name sorts, in both orders': byName('user_name'),
  'sort=proctor_name sorts, in both orders': byName('proctor_name'),
  'sort=product_name sorts, in both orders': byName('product_name'),
  'an unrecognised sort falls back to certified_on': byDay('ASC', { sort: 'bogus', order: 'ASC' }),
  'order is case-insensitive': [
    byDay('DESC', { sort: 'certified_on', order: 'desc' }),
    byDay('ASC', { sort: 'certified_on', order: 'asc' }),
  ],
  'any other order falls back to ASC': byDay('ASC', { sort: 'certified_on', order: 'sideways' }),
};
