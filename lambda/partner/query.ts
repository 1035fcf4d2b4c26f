import * as z from 'zod/mini';
import { inEnglish, problemsOf } from '../english.ts';
import { PartnerError } from './errors.ts';

/** The API reduces larger pages to this silently (partner-api.md, 8); this client refuses them. */
export const MAX_PAGE_SIZE = 100;
/** What the host takes where none is asked for. */
export const DEFAULT_PAGE_SIZE = 50;

export const SORT_KEYS = ['certified_on', 'user_name', 'proctor_name', 'product_name'] as const;

const listOf = <Value extends z.core.$ZodType>(value: Value) =>
  z.exactOptional(z.readonly(z.array(value)));

/** A date in the partner's time zone. */
const day = z.exactOptional(z.iso.date());

/**
 * Filters of the list, under the API's own names (partner-api.md, 4.2). All combine with AND.
 *
 * A blank string and an empty array equal an omitted filter, as the document says: a list of IDs
 * that turns out to be empty selects everything, not nothing.
 */
const assessmentFilter = z.strictObject({
  /** Part of an assessment's, first or last name; two words are also first name, then last. */
  search: z.exactOptional(z.string()),
  /** Completed on this day or later. */
  start_date: day,
  /** Completed on this day or earlier. */
  end_date: day,
  product_ids: listOf(z.int()),
  user_ids: listOf(z.int()),
  seids: listOf(z.string()),
  proctor_ids: listOf(z.int()),
  organization_ids: listOf(z.int()),
  user_record_status: listOf(z.enum(['active', 'archived'])),
  legacy_record: listOf(z.literal([true, false, 'both'])),
});

/**
 * What to ask the list for (partner-api.md, 4.2). What is omitted is left to the API's defaults.
 *
 * The API takes what it does not know as the default, without an error: a typing mistake would give
 * another order than the one a proven read relies on.
 */
const listQuery = z.strictObject({
  filter: z.exactOptional(assessmentFilter),
  sort: z.exactOptional(z.enum(SORT_KEYS)),
  order: z.exactOptional(z.enum(['ASC', 'DESC'])),
  /** Page size. */
  page: z.exactOptional(z.int().check(z.positive(), z.maximum(MAX_PAGE_SIZE))),
  /** Records to skip. */
  offset: z.exactOptional(z.int().check(z.nonnegative())),
});

export type AssessmentFilter = Readonly<z.input<typeof assessmentFilter>>;
export type ListQuery = Readonly<z.input<typeof listQuery>>;

/**
 * The query string of a list request, without the question mark.
 *
 * @throws {PartnerError} `invalid-query`, naming every parameter that the API would refuse, cut or misread.
 */
export function toSearchParams(query: ListQuery): URLSearchParams {
  const { data, error } = listQuery.safeParse(query, inEnglish);
  if (error !== undefined) throw new PartnerError('invalid-query', 'list', problemsOf(error));
  const { filter = {}, ...listing } = data;
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    const parameter = Array.isArray(value) ? `filter[${name}][]` : `filter[${name}]`;
    for (const one of [value].flat()) params.append(parameter, String(one));
  }
  for (const [name, value] of Object.entries(listing)) params.append(name, String(value));
  return params;
}
