import { Temporal } from 'temporal-polyfill';
import { InvalidQueryError } from './errors.ts';

/** The API reduces larger pages to this silently (partner-api.md, 8); this client refuses them. */
export const MAX_PAGE_SIZE = 100;
/** What the host takes where none is asked for. */
export const DEFAULT_PAGE_SIZE = 50;

export const SORT_KEYS = ['certified_on', 'user_name', 'proctor_name', 'product_name'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** A date in the platform's time zone; a string is `YYYY-MM-DD`. */
export type DateFilter = Temporal.PlainDate | string;

/**
 * Filters of the list, under the API's own names (partner-api.md, 4.2). All combine with AND.
 *
 * A blank string and an empty array equal an omitted filter, as the document says: a list of IDs
 * that turns out to be empty selects everything, not nothing.
 */
export interface AssessmentFilter {
  /** Part of an assessment's, first or last name; two words are also first name, then last. */
  readonly search?: string;
  /** Completed on this day or later. */
  readonly start_date?: DateFilter;
  /** Completed on this day or earlier. */
  readonly end_date?: DateFilter;
  readonly product_ids?: readonly number[];
  readonly user_ids?: readonly number[];
  readonly seids?: readonly string[];
  readonly proctor_ids?: readonly number[];
  readonly organization_ids?: readonly number[];
  readonly user_record_status?: readonly ('active' | 'archived')[];
  readonly legacy_record?: readonly (boolean | 'both')[];
}

/** What to ask the list for (partner-api.md, 4.2). What is omitted is left to the API's defaults. */
export interface ListQuery {
  readonly filter?: AssessmentFilter;
  readonly sort?: SortKey;
  readonly order?: 'ASC' | 'DESC';
  /** Page size, 1 to 100. */
  readonly page?: number;
  /** Records to skip. */
  readonly offset?: number;
}

const TEXTS = ['search'] as const;
const DATES = ['start_date', 'end_date'] as const;
const ID_LISTS = ['product_ids', 'user_ids', 'proctor_ids', 'organization_ids'] as const;
const WORD_LISTS = {
  user_record_status: ['active', 'archived'],
  legacy_record: ['true', 'false', 'both'],
} as const;

/**
 * The query string of a list request, without the question mark; blank filters are dropped.
 *
 * @throws {InvalidQueryError} naming every parameter that the API would refuse, cut or misread.
 */
export function toSearchParams(query: ListQuery): URLSearchParams {
  const params = new URLSearchParams();
  const problems: string[] = [];
  const filter = query.filter ?? {};

  for (const key of TEXTS) {
    const text = filter[key]?.trim();
    if (text) params.append(`filter[${key}]`, text);
  }
  for (const key of DATES) {
    const date = filter[key];
    if (date === undefined || (typeof date === 'string' && date.trim() === '')) continue;
    if (isDate(date)) params.append(`filter[${key}]`, date.toString());
    else problems.push(`filter.${key}: not a date (YYYY-MM-DD)`);
  }
  for (const key of ID_LISTS) {
    for (const id of filter[key] ?? []) {
      if (Number.isSafeInteger(id)) params.append(`filter[${key}][]`, String(id));
      else problems.push(`filter.${key}: not an integer`);
    }
  }
  for (const seid of filter.seids ?? []) {
    if (seid.trim() !== '') params.append('filter[seids][]', seid.trim());
  }
  for (const key of ['user_record_status', 'legacy_record'] as const) {
    const allowed: readonly string[] = WORD_LISTS[key];
    for (const value of filter[key] ?? []) {
      if (allowed.includes(String(value))) params.append(`filter[${key}][]`, String(value));
      else problems.push(`filter.${key}: none of ${allowed.join(', ')}`);
    }
  }

  // The API takes what it does not know as the default, without an error (4.2): a typing mistake
  // would give another order than the one a proven read relies on.
  if (query.sort !== undefined) {
    if (SORT_KEYS.includes(query.sort)) params.append('sort', query.sort);
    else problems.push(`sort: none of ${SORT_KEYS.join(', ')}`);
  }
  if (query.order !== undefined) {
    if (query.order === 'ASC' || query.order === 'DESC') params.append('order', query.order);
    else problems.push('order: neither ASC nor DESC');
  }
  if (query.page !== undefined) {
    if (Number.isInteger(query.page) && query.page >= 1 && query.page <= MAX_PAGE_SIZE) {
      params.append('page', String(query.page));
    } else problems.push(`page: not an integer from 1 to ${MAX_PAGE_SIZE}`);
  }
  if (query.offset !== undefined) {
    if (Number.isSafeInteger(query.offset) && query.offset >= 0) {
      params.append('offset', String(query.offset));
    } else problems.push('offset: not an integer from 0 up');
  }

  if (problems.length > 0) throw new InvalidQueryError([...new Set(problems)]);
  return params;
}

function isDate(date: DateFilter): boolean {
  if (typeof date !== 'string') return date.toString().length === 'YYYY-MM-DD'.length;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return false;
  try {
    Temporal.PlainDate.from(date);
    return true;
  } catch {
    return false;
  }
}
