import type { DocumentedRecord } from '../../documented-record.ts';
import type { ConformanceCheck } from '../check.ts';
import type { Params } from '../host.ts';
import { fitsOf, type NameSort, nameOrders, share } from '../name-orders.ts';
import type { ListPage, Samples } from '../samples.ts';
import { newestFirst, oldestFirst } from '../samples.ts';
import {
  type CheckVerdict,
  cannotTell,
  contradiction,
  firstTrouble,
  mismatch,
  pass,
} from '../verdict.ts';

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

const daysOf = (order: Order, params: Params) => async (samples: Samples) =>
  isByDay(await samples.page({ page: '100', ...params }), order);

const alike = cannotTell('the rows do not differ in that name');

/**
 * The document names neither the key of a name sort nor its collation. So a page is compared with every plausible
 * order. A sorted page agrees with one of them nearly everywhere; an unsorted page is wrong at every second row.
 */
function isByName(page: ListPage, sort: NameSort, order: Order): CheckVerdict {
  const fits = fitsOf(page.records, sort, order);
  const telling = fits.filter(({ unequal }) => unequal > 0);
  if (telling.some((fit) => share(fit) <= 0.1)) return pass;
  const [best] = telling;
  // A key that is equal in all rows cannot show a wrong order.
  if (best === undefined || telling.length < fits.length) {
    return alike;
  }
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
  first: DocumentedRecord | undefined,
  last: DocumentedRecord | undefined,
  seen: readonly DocumentedRecord[],
  sort: NameSort,
): CheckVerdict {
  if (first === undefined || last === undefined) return alike;
  const orders = nameOrders[sort].map(({ compare }) => compare);
  if (orders.every((compare) => compare(first, last) < 0)) return pass;
  if (orders.every((compare) => compare(first, last) > 0)) {
    return mismatch('ASC begins before DESC', 'DESC begins before ASC');
  }
  const same = orders.every((compare) => compare(first, last) === 0);
  const several = orders.every((compare) => seen.some((record) => compare(first, record) !== 0));
  return same && several
    ? mismatch('ASC and DESC begin with different names', 'they begin with the same one')
    : alike;
}

function names(sort: NameSort): ConformanceCheck {
  return {
    name: `sort=${sort} sorts, in both orders`,
    run: async (samples) => {
      const up = await samples.page({ sort, order: 'ASC', page: '100' });
      const down = await samples.page({ sort, order: 'DESC', page: '100' });
      const pages = [isByName(up, sort, 'ASC'), isByName(down, sort, 'DESC')];
      const ends = endsDiffer(up.records[0], down.records[0], await samples.records(), sort);
      if (ends.verdict === 'pass') return firstTrouble(pages.filter((page) => page !== alike));
      return ends.verdict === 'fail' ? firstTrouble([...pages, ends]) : firstTrouble(pages);
    },
  };
}

const byDay = { sort: 'certified_on' } as const;

export const sortingChecks: readonly ConformanceCheck[] = [
  { name: 'the default is certified_on, ASC', run: daysOf('ASC', {}) },
  {
    name: 'sort=certified_on sorts, in both orders',
    run: async (samples) =>
      firstTrouble([
        await daysOf('DESC', newestFirst)(samples),
        isByDay(await samples.middle(), 'ASC'),
        await daysOf('ASC', oldestFirst)(samples),
      ]),
  },
  names('user_name'),
  names('proctor_name'),
  names('product_name'),
  {
    name: 'an unrecognised sort falls back to certified_on',
    run: daysOf('ASC', { sort: 'bogus', order: 'ASC' }),
  },
  {
    name: 'order is case-insensitive',
    run: async (samples) =>
      firstTrouble([
        await daysOf('DESC', { ...byDay, order: 'desc' })(samples),
        await daysOf('ASC', { ...byDay, order: 'asc' })(samples),
      ]),
  },
  {
    name: 'any other order falls back to ASC',
    run: daysOf('ASC', { ...byDay, order: 'sideways' }),
  },
];
