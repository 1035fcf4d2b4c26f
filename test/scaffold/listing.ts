import { toSearchParams } from '../../lambda/partner/api.ts';
import type { ListQuery, Page } from '../../lambda/partner/index.ts';
import { list, type Ordering } from '../../local/partner-sandbox/list.ts';
import { matching } from '../../local/partner-sandbox/matching.ts';
import { readRawQuery } from '../../local/partner-sandbox/query.ts';
import type { Row, RowsByDay } from '../../local/partner-sandbox/rows.ts';
import { documentRules } from '../../local/partner-sandbox/rules.ts';

/** A host's data of an assessment. */
export interface HostRecord extends Row {
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

/** The page that a query asks for, in one atomic answer, as the client returns it. */
export function answer(records: RowsByDay<HostRecord>, asked: ListQuery, ordering: Ordering): Page {
  const query = documentRules.listQuery(readRawQuery(toSearchParams(asked)));
  const { count, rows } = list(records, query, matching(query), ordering);
  const { offset, page } = query;
  return {
    assessments: rows.filter(({ malformed }) => !malformed).map(({ assessment }) => assessment),
    quarantined: rows.flatMap(({ malformed, assessment: { id } }, index) =>
      malformed ? [{ index, id, problems: ['name: expected string'] }] : [],
    ),
    meta: { count, offset, page },
    rows: rows.length,
  };
}
