import type { Section } from '../check.ts';
import { dateChecks } from './list-dates.ts';
import { filterChecks } from './list-filters.ts';
import { pagingChecks } from './list-paging.ts';
import { searchChecks } from './list-search.ts';
import { sortingChecks } from './list-sorting.ts';

export const list: Section = {
  id: '4.2',
  title: 'GET /api/v1/ax/assessments',
  checks: [...pagingChecks, ...sortingChecks, ...searchChecks, ...dateChecks, ...filterChecks],
};
