import * as z from 'zod/mini';
import type { DocumentedRecord } from '../../documented-record.ts';
import { answers, changed, fits, must, unlessChanged } from '../expectations.ts';
import type { Grant } from '../host.ts';
import { fitsOf, type NameSort, nameOrders, share } from '../name-orders.ts';
import {
  ask,
  count,
  type ListPage,
  look,
  middleOf,
  type Next,
  newestFirst,
  oldestFirst,
  page,
  type Section,
} from '../question.ts';
import { list, type Params } from '../requests.ts';
import {
  type CheckVerdict,
  cannotTell,
  contradiction,
  mismatch,
  noRecords,
  pass,
} from '../verdict.ts';
import { lifetime } from './access.ts';
import { dateChecks, filterChecks, searchChecks } from './filters.ts';

const natural = z.int().check(z.nonnegative());
const counts = z.looseObject({
  meta: z.looseObject({ count: natural, offset: natural, page: z.int().check(z.positive()) }),
});

const echoes = (asked: string, applied: number): Next =>
  page({ page: asked }, ({ page }) =>
    must(page === applied, `page ${applied} in meta for page=${asked}`, `page ${page}`),
  );

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

const hasEqualCounts = count({}, (one) =>
  page({ page: '7' }, ({ count: seven }) =>
    page(newestFirst, ({ count: hundred }) => {
      if (one === seven && one === hundred) return one === 0 ? noRecords : pass;
      const seen = `page=1, 7 and 100 give counts ${one}, ${seven}, ${hundred}`;
      return unlessChanged(one, mismatch('the same count', seen));
    }),
  ),
);

const holdsItsRows = ({ rows, offset, count }: ListPage) =>
  must(
    rows.length === 0 || offset + rows.length <= count,
    'count of all pages',
    'more rows than count',
  );

export const metadata: Section = {
  id: '2.4',
  title: 'List metadata',
  checks: {
    'meta has count, offset and page': ask(list({}), ({ body }) =>
      fits(counts, body, (seen) => contradiction('three integers', seen)),
    ),
    'count ignores paging': [look(({ pages }) => pages.map(holdsItsRows)), hasEqualCounts],
    'offset is the one applied': look(({ first, middle: { offset } }) => {
      const asked = middleOf(first);
      return asked === 0
        ? cannotTell('there are fewer than two records')
        : must(offset === asked, `offset ${asked} in meta, as asked for`, `offset ${offset}`);
    }),
    'page is the size applied, after the cap': [echoes('7', 7), echoes('500', 100)],
  },
};

const skips = look(({ first, middle }) => {
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
  const days = records.map(({ certified_on }) => certified_on);
  const expected = days.slice(offset, offset + size);
  if (expected.length < size || records.length < rows.length) {
    return cannotTell('there are too few records');
  }
  if (days.slice(0, size).join() === expected.join()) {
    return cannotTell('the newest records are all of one day');
  }
  return page({ ...newestFirst, page: String(size), offset: String(offset) }, (part) => {
    const seen = part.records.map(({ certified_on }) => certified_on);
    if (seen.join() === expected.join()) return pass;
    if (part.count !== count) return changed;
    return mismatch(
      `the days of rows ${offset} to ${offset + size} of the longer page (count ${count})`,
      `others (${seen[0] ?? 'none'} to ${seen.at(-1) ?? 'none'}, count ${part.count})`,
    );
  });
});

const envelope = z.looseObject({ data: z.array(z.unknown()), meta: z.looseObject({}) });

const paging: Section['checks'] = {
  'the answer is an object with data and meta': [
    answers(200, list({})),
    ask(list({}), ({ body }) =>
      fits(envelope, body, (seen) => contradiction('data and meta', seen)),
    ),
  ],
  'the default page size is 50': defaultSize,
  'page is a size, not a number': hasSize({ page: '7' }, 7),
  'page sizes above 100 are reduced to 100': largestSize,
  'offset is the number of records to skip': skips,
  'a page that is skipped to continues the same list': continues,
  'an offset past the end gives no rows and the same count': count({}, (total) =>
    total === 0
      ? noRecords
      : page({ page: '10', offset: String(total + 1_000) }, ({ rows, count }) => [
          must(rows.length === 0, 'no rows', `${rows.length} rows`),
          count === total
            ? pass
            : unlessChanged(total, mismatch(`count ${total}`, `count ${count}`)),
        ]),
  ),
};

type Order = 'ASC' | 'DESC';

function isByDay({ records }: ListPage, order: Order): CheckVerdict {
  const days = records.map(({ certified_on }) => certified_on);
  const pairs = days.slice(1).map((next, index) => ({ day: days[index] ?? next, next }));
  const differing = pairs.filter(({ day, next }) => next !== day);
  const isAscending = order === 'ASC';
  const wrong = differing.filter(({ day, next }) => day < next !== isAscending).length;
  const way = isAscending ? 'oldest first' : 'newest first';
  if (wrong > 0) return contradiction(way, `${wrong} of ${days.length} rows are out of order`);
  return differing.length > 0 ? pass : cannotTell('the rows do not differ in their day');
}

const byDay = (order: Order, params: Params): Next =>
  page({ ...params, page: '100' }, (page) => isByDay(page, order));

const alike = cannotTell('the rows do not differ in that name');

/**
 * The document names neither the key of a name sort nor its collation. So a page is compared with every plausible
 * order. A sorted page agrees with one of them nearly everywhere; an unsorted page is wrong at every second row.
 */
function isByName({ records }: ListPage, sort: NameSort, order: Order): CheckVerdict {
  const fits = fitsOf(records, sort, order);
  const telling = fits.filter(({ unequal }) => unequal > 0);
  if (telling.some((fit) => share(fit) <= 0.1)) return pass;
  const [best] = telling;
  // A key that is equal in all rows cannot show a wrong order.
  if (best === undefined || telling.length < fits.length) return alike;
  return best.wrong >= 3 && share(best) > 0.3
    ? contradiction(
        `${order} by some reading of the name`,
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
        const ends = endsDiffer(sort, up.records, down.records, records);
        const pages = [isByName(up, sort, 'ASC'), isByName(down, sort, 'DESC')];
        if (ends.verdict === 'pass') return pages.filter((page) => page !== alike);
        return ends.verdict === 'fail' ? [...pages, ends] : pages;
      }),
    ),
  );

const sorting: Section['checks'] = {
  'the default is certified_on, ASC': byDay('ASC', {}),
  'sort=certified_on sorts, in both orders': [
    byDay('DESC', newestFirst),
    look(({ middle }) => isByDay(middle, 'ASC')),
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

export const limits = (grants: readonly Grant[]): Section => ({
  id: '8',
  title: 'Limits',
  checks: {
    'the largest page is 100': largestSize,
    'the default page is 50': defaultSize,
    'the default offset is 0': page({}, ({ offset }) =>
      must(offset === 0, 'offset 0', `offset ${offset}`),
    ),
    'a token lives for 7200 seconds': lifetime(grants),
  },
});

export const assessments: Section = {
  id: '4.2',
  title: 'GET /api/v1/ax/assessments',
  checks: { ...paging, ...sorting, ...searchChecks, ...dateChecks, ...filterChecks },
};
