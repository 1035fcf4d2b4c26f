import type { Assessment } from '../../../../lambda/events/assessment.ts';
import type { ListQuery, Page } from '../../../../lambda/partner/index.ts';

/** What `sort=user_name` compares, of which the document says nothing; or the sort does nothing. */
export type HostOrder = 'full-name' | 'last-name' | 'first-name' | 'last-then-first' | 'ignored';

export interface HostRecord {
  readonly assessment: Assessment;
  readonly legacy: boolean;
  readonly archived: boolean;
  /** What the host serves is not what the document describes. */
  readonly malformed?: boolean;
}

/**
 * Section 4.2 of partner-api.md over plain objects: filter, sort, slice, count, in one atomic answer.
 *
 * @param tie decides among equals, called once a record
 */
export function answer(
  records: Iterable<HostRecord>,
  query: ListQuery,
  hostOrder: HostOrder,
  tie: () => number,
): Page {
  return pageOf(listed(records, query, hostOrder, tie), query);
}

/** What a query asks for, in its order. */
export function listed(
  records: Iterable<HostRecord>,
  { filter = {}, sort = 'certified_on', order = 'ASC' }: ListQuery,
  hostOrder: HostOrder,
  tie: () => number,
): HostRecord[] {
  const from = filter.start_date?.toString() ?? '';
  const to = filter.end_date?.toString() ?? '9999';
  const matching: { record: HostRecord; key: string; tie: number }[] = [];
  for (const record of records) {
    const { certified_on, organization_id } = record.assessment;
    if (certified_on < from || certified_on > to) continue;
    if (!passes(filter.legacy_record, record.legacy)) continue;
    if (!passes(filter.user_record_status, record.archived ? 'archived' : 'active')) continue;
    if (!passes(filter.organization_ids, organization_id)) continue;
    matching.push({ record, key: keyOf(record.assessment, sort, hostOrder), tie: tie() });
  }
  const direction = order === 'DESC' ? -1 : 1;
  matching.sort((a, b) => direction * (a.key < b.key ? -1 : a.key > b.key ? 1 : a.tie - b.tie));
  return matching.map(({ record }) => record);
}

/** The slice of a list that a query asks for. */
export function pageOf(list: readonly HostRecord[], query: ListQuery): Page {
  const { offset = 0 } = query;
  const page = Math.min(query.page ?? 50, 100);
  const rows = list.slice(offset, offset + page);
  return {
    assessments: rows.filter(({ malformed }) => !malformed).map(({ assessment }) => assessment),
    quarantined: rows.flatMap(({ malformed, assessment: { id } }, index) =>
      malformed ? [{ index, id, problems: ['name: expected string'] }] : [],
    ),
    meta: { count: list.length, offset, page },
    rows: rows.length,
  };
}

function passes<T>(wanted: readonly (T | 'both')[] | undefined, value: T): boolean {
  return !wanted || wanted.length === 0 || wanted.includes(value) || wanted.includes('both');
}

function keyOf(assessment: Assessment, sort: string, order: HostOrder): string {
  const { first_name, last_name, name } = assessment;
  if (sort === 'certified_on' || order === 'ignored') return assessment.certified_on;
  if (sort === 'product_name') return assessment.assessment_name;
  if (sort === 'proctor_name') return assessment.results[0]?.proctor_name ?? '';
  if (order === 'last-name') return last_name.toLowerCase();
  if (order === 'first-name') return first_name.toLowerCase();
  if (order === 'last-then-first') return `${last_name}\t${first_name}`.toLowerCase();
  return name.toLowerCase();
}
