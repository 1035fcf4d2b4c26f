import * as z from 'zod';
import { problemsOf } from '../../../lambda/english.ts';
import type { Section } from '../check.ts';
import { cannotTell, contradiction, firstTrouble, mismatch, pass } from '../verdict.ts';

const integers = z.looseObject({
  meta: z.looseObject({
    count: z.int().nonnegative(),
    offset: z.int().nonnegative(),
    page: z.int().positive(),
  }),
});

export const metadata: Section = {
  id: '2.4',
  title: 'List metadata',
  checks: [
    {
      name: 'meta has count, offset and page',
      run: async (samples) => {
        const { error } = integers.safeParse((await samples.answer({})).body);
        return error ? contradiction('three integers', problemsOf(error).join('; ')) : pass;
      },
    },
    {
      name: 'count ignores paging',
      run: async (samples) => {
        const pages = [await samples.middle(), await samples.newest(), await samples.first()];
        const beyond = pages.filter(
          ({ rows, offset, count }) => rows.length > 0 && offset + rows.length > count,
        ).length;
        if (beyond > 0) return contradiction('count of all pages', 'more rows than count');
        const counts = [
          await samples.count(),
          (await samples.page({ page: '7' })).count,
          (await samples.newest()).count,
        ];
        if (new Set(counts).size === 1) {
          return counts[0] === 0 ? cannotTell('there are no records') : pass;
        }
        if ((await samples.countNow()) !== counts[0]) {
          return cannotTell('the count changed while it was asked');
        }
        return mismatch('the same count', `page=1, 7 and 100 give counts ${counts.join(', ')}`);
      },
    },
    {
      name: 'offset is the one applied',
      run: async (samples) => {
        const asked = await samples.middleOffset();
        if (asked === 0) return cannotTell('there are fewer than two records');
        const { offset } = await samples.middle();
        return offset === asked
          ? pass
          : contradiction(`offset ${asked} in meta, as asked for`, `offset ${offset}`);
      },
    },
    {
      name: 'page is the size applied, after the cap',
      run: async (samples) =>
        firstTrouble(
          [
            { asked: '7', applied: 7, page: await samples.page({ page: '7' }) },
            { asked: '500', applied: 100, page: await samples.page({ page: '500' }) },
          ].map(({ asked, applied, page }) =>
            page.page === applied
              ? pass
              : contradiction(`page ${applied} in meta for page=${asked}`, `page ${page.page}`),
          ),
        ),
    },
  ],
};
