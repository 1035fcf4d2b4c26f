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

/** What a value of a parameter may be. */
interface Rule {
  /** Blank equals omitted. `undefined`: refused. */
  readonly textOf: (value: unknown) => string | undefined;
  readonly problem: string;
}

const allowed = (isAllowed: (value: unknown) => boolean, problem: string): Rule => ({
  textOf: (value) => (isAllowed(value) ? String(value) : undefined),
  problem,
});
const text: Rule = { textOf: (value) => String(value).trim(), problem: 'not a text' };
const date: Rule = {
  textOf: (value) => (String(value).trim() === '' ? '' : dateText(String(value))),
  problem: 'not a date (YYYY-MM-DD)',
};
const integer = allowed(Number.isSafeInteger, 'not an integer');
const oneOf = (words: readonly string[], problem = `none of ${words.join(', ')}`) =>
  allowed((value) => words.includes(String(value)), problem);
const within = (least: number, most: number, problem: string) =>
  allowed(
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    problem,
  );

const FILTERS: Readonly<Record<keyof AssessmentFilter, Rule>> = {
  search: text,
  start_date: date,
  end_date: date,
  product_ids: integer,
  user_ids: integer,
  proctor_ids: integer,
  organization_ids: integer,
  seids: text,
  user_record_status: oneOf(['active', 'archived']),
  legacy_record: oneOf(['true', 'false', 'both']),
};

/**
 * The API takes what it does not know as the default, without an error (4.2): a typing mistake
 * would give another order than the one a proven read relies on.
 */
const LISTING: Readonly<Record<keyof Omit<ListQuery, 'filter'>, Rule>> = {
  sort: oneOf(SORT_KEYS),
  order: oneOf(['ASC', 'DESC'], 'neither ASC nor DESC'),
  page: within(1, MAX_PAGE_SIZE, `not an integer from 1 to ${MAX_PAGE_SIZE}`),
  offset: within(0, Number.MAX_SAFE_INTEGER, 'not an integer from 0 up'),
};

/**
 * The query string of a list request, without the question mark; blank filters are dropped.
 *
 * @throws {InvalidQueryError} naming every parameter that the API would refuse, cut or misread.
 */
export function toSearchParams({ filter = {}, ...listing }: ListQuery): URLSearchParams {
  const given = [
    ...valuesOf(FILTERS, filter).map(({ name, isList, ...one }) => ({
      ...one,
      name: `filter.${name}`,
      parameter: `filter[${name}]${isList ? '[]' : ''}`,
    })),
    ...valuesOf(LISTING, listing).map((one) => ({ ...one, parameter: one.name })),
  ];
  const wrong = given.filter(({ text }) => text === undefined);
  if (wrong.length > 0)
    throw new InvalidQueryError([
      ...new Set(wrong.map(({ name, problem }) => `${name}: ${problem}`)),
    ]);
  const params = new URLSearchParams();
  for (const { parameter, text } of given) if (text) params.append(parameter, text);
  return params;
}

/** In the order of the rules, lists value by value. */
function valuesOf(rules: Readonly<Record<string, Rule>>, query: object) {
  const values = new Map<string, unknown>(Object.entries(query));
  return Object.entries(rules).flatMap(([name, { problem, textOf }]) => {
    const value = values.get(name);
    const each: readonly unknown[] = value === undefined ? [] : [value].flat();
    const isList = Array.isArray(value);
    return each.map((one) => ({ name, isList, problem, text: textOf(one) }));
  });
}

function dateText(text: string): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  try {
    return Temporal.PlainDate.from(text).toString();
  } catch {
    return undefined;
  }
}
