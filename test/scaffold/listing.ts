import type { Assessment } from '../../lambda/events/assessment.ts';
import type { AssessmentFilter, ListQuery, Page } from '../../lambda/partner/index.ts';

/**
 * The key that `sort=user_name` compares, on which the document is silent. `ignored`: the host does
 * not sort.
 */
export type HostOrder = 'full-name' | 'last-name' | 'first-name' | 'last-then-first' | 'ignored';

/** A host's data of an assessment. */
export interface HostRecord {
  /** Without a `certified_on` it is in no range of days. */
  readonly assessment: Assessment;
  readonly legacy: boolean;
  readonly archived: boolean;
  /**
   * Fields that differ from the document, as the host serves them. The assessment has the reader's
   * version.
   */
  readonly odd?: Readonly<Record<string, unknown>>;
  /**
   * The record lacks a usable id or day, so it cannot be announced. These fields replace its own.
   */
  readonly malformed?: boolean | Readonly<Record<string, unknown>>;
}

/**
 * Section 4.2 of docs/partner.md over plain objects: filter, sort, cut, count, in one atomic
 * answer.
 *
 * @param tie decides among equals, called once a record
 */
export function answer(
  records: Iterable<HostRecord>,
  query: ListQuery,
  hostOrder: HostOrder,
  tie: (record: HostRecord) => number,
): Page {
  return pageOf(listed(records, query, hostOrder, tie), query);
}

/** The page of a list that a query asks for, as the client returns it. */
function pageOf(list: readonly HostRecord[], query: ListQuery): Page {
  const rows = rowsOf(list, query);
  return {
    assessments: rows.filter(({ malformed }) => !malformed).map(({ assessment }) => assessment),
    quarantined: rows.flatMap(({ malformed, assessment: { id } }, index) =>
      malformed ? [{ index, id, problems: ['name: expected string'] }] : [],
    ),
    meta: { count: list.length, ...windowOf(query) },
    rows: rows.length,
  };
}

/** The records that match a query, in its order. */
export function listed(
  records: Iterable<HostRecord>,
  { filter = {}, sort = 'certified_on', order = 'ASC' }: ListQuery,
  hostOrder: HostOrder,
  tie: (record: HostRecord) => number,
): HostRecord[] {
  const isOfDays = daysOf(filter);
  const matching: { record: HostRecord; key: string; tie: number }[] = [];
  for (const record of records)
    if (isOfDays(record.assessment.certified_on) && passesAll(filter, record))
      matching.push({ record, key: keyOf(record.assessment, sort, hostOrder), tie: tie(record) });
  const direction = order === 'DESC' ? -1 : 1;
  matching.sort((a, b) => direction * (a.key < b.key ? -1 : a.key > b.key ? 1 : a.tie - b.tie));
  return matching.map(({ record }) => record);
}

/** The records of the page that a query asks for. */
export function rowsOf(list: readonly HostRecord[], query: ListQuery): readonly HostRecord[] {
  const { offset, page } = windowOf(query);
  return list.slice(offset, offset + page);
}

/** The offset and the size of a page, by the document's defaults and cap. */
export function windowOf({ offset = 0, page = 50 }: ListQuery): { offset: number; page: number } {
  return { offset, page: Math.min(page, 100) };
}

/** A record without a day is in no range. */
function daysOf({ start_date, end_date }: AssessmentFilter): (day: string) => boolean {
  if (start_date === undefined && end_date === undefined) return () => true;
  const from = start_date?.toString() ?? '';
  const to = end_date?.toString() ?? '9999-12-31';
  return (day) => day !== '' && day >= from && day <= to;
}

function passesAll(
  filter: AssessmentFilter,
  { assessment, legacy, archived }: HostRecord,
): boolean {
  return (
    passes(filter.legacy_record, legacy) &&
    passes(filter.user_record_status, archived ? 'archived' : 'active') &&
    passes(filter.organization_ids, assessment.organization_id)
  );
}

function passes<T>(wanted: readonly (T | 'both')[] | undefined, value: T): boolean {
  return !wanted || wanted.length === 0 || wanted.includes(value) || wanted.includes('both');
}

function keyOf(assessment: Assessment, sort: string, order: HostOrder): string {
  const first_name = assessment.first_name ?? '';
  const last_name = assessment.last_name ?? '';
  if (sort === 'certified_on' || order === 'ignored') return assessment.certified_on;
  if (sort === 'product_name') return assessment.assessment_name ?? '';
  if (sort === 'proctor_name') return assessment.results?.[0]?.proctor_name ?? '';
  if (order === 'last-name') return last_name.toLowerCase();
  if (order === 'first-name') return first_name.toLowerCase();
  if (order === 'last-then-first') return `${last_name}\t${first_name}`.toLowerCase();
  return (assessment.name ?? '').toLowerCase();
}
