import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { inEnglish, problemsOf } from '../../../lambda/english.ts';
import {
  type DocumentedRecord,
  documentedPartSchema,
  documentedRecordSchema,
} from '../../documented-record.ts';
import { all, answers, fits, must, onDay, unusedId } from '../expectations.ts';
import { ask, type Checks, given, type ListPage, look, type Next, page } from '../question.ts';
import { record } from '../requests.ts';
import {
  type CheckVerdict,
  cannotTell,
  contradiction,
  mismatch,
  noRecords,
  pass,
} from '../verdict.ts';

/** Rows that do not fit a schema, summed up by the problems of the first. */
function allFit(schema: z.ZodMiniType, rows: readonly unknown[], expected: string): CheckVerdict {
  const errors = rows.flatMap((row) => schema.safeParse(row, inEnglish).error ?? []);
  const [first] = errors;
  if (first === undefined) return rows.length === 0 ? noRecords : pass;
  const problems = problemsOf(first).join('; ');
  const seen = `${errors.length} of ${rows.length} do not, the first: ${problems}`;
  return contradiction(expected, seen);
}

/** The parts have their own section. */
const fields = z.extend(documentedRecordSchema, { results: z.array(z.unknown()) });
const parted = z.looseObject({ results: z.array(z.unknown()) });
const identified = z.looseObject({ id: z.int() });

const rowsOf = (pages: readonly ListPage[]) => pages.flatMap(({ rows }) => rows);

const partsOf = (pages: readonly ListPage[]): readonly (readonly unknown[])[] =>
  rowsOf(pages).flatMap((row) => {
    const { data } = parted.safeParse(row);
    return data ? [data.results] : [];
  });

function areDistinct({ rows }: ListPage): CheckVerdict {
  const ids = rows.flatMap((row) => identified.safeParse(row).data?.id ?? []);
  const repeated = ids.length - new Set(ids).size;
  if (rows.length === 0) return noRecords;
  return must(repeated === 0, 'distinct ids in a page', `${repeated} repeated`);
}

const isPopulated = (results: readonly unknown[]) => results.length > 0;

export const records: Checks = {
  'every record has the documented fields and types': look(({ pages }) =>
    allFit(fields, rowsOf(pages), 'records have the documented fields'),
  ),
  'results is always populated': look(({ pages }) =>
    all(partsOf(pages), isPopulated, 'one entry at least', 'records have none'),
  ),
  'an id names one record': look(({ pages }) => pages.map(areDistinct)),
};

/** Compares dates by their day. Section 2.2 covers their format. */
function describesItself({ id, assessment_name, certified_on, results }: DocumentedRecord) {
  const [entry] = results;
  return (
    entry?.assessment_id === id &&
    entry.assessment_name === assessment_name &&
    entry.certified_on.slice(0, 10) === certified_on.slice(0, 10)
  );
}

const hasOwnIds = ({ id, results }: DocumentedRecord) =>
  results.every(({ assessment_id }) => assessment_id !== id);

const withParts = (
  areSeveral: boolean,
  judge: (records: readonly DocumentedRecord[]) => Next,
): Next =>
  look(({ records }) => {
    const found = records.filter(({ results }) => results.length > 1 === areSeveral);
    const which = areSeveral ? 'with several' : 'without';
    return found.length > 0 ? judge(found) : cannotTell(`no record ${which} parts was seen`);
  });

const itself = 'one entry with the id, name and date of the record';

export const parts: Checks = {
  'every part has the documented fields and types': look(({ pages }) =>
    allFit(documentedPartSchema, partsOf(pages).flat(), 'parts have the documented fields'),
  ),
  'an assessment without parts has one entry, which describes itself': withParts(false, (records) =>
    all(records, describesItself, itself, 'records have none or another'),
  ),
  'parts have ids of their own': withParts(true, (records) =>
    all(records, hasOwnIds, 'no part with the id of its record', 'records have one'),
  ),
};

/** Fetches a listed record by its id. */
const ofListed = (judge: (body: unknown, listed: DocumentedRecord) => Next): Next =>
  given(
    ({ middle: { records } }) => records.find(({ results }) => results.length > 1) ?? records[0],
    'there are no records',
    (listed) =>
      ask(record(listed.id), ({ status, body }) =>
        status === 200
          ? judge(body, listed)
          : mismatch('status 200 for a record that was just listed', `status ${status}`),
      ),
  );

const hasItsShape = (body: unknown, { id }: DocumentedRecord): Next => [
  fits(documentedRecordSchema, body, (seen) => contradiction('a record in the shape of 2.2', seen)),
  must(identified.safeParse(body).data?.id === id, 'the id asked for', 'another id'),
];

function equalsListed(body: unknown, listed: DocumentedRecord): CheckVerdict {
  const record = documentedRecordSchema.safeParse(body).data;
  if (record === undefined) return cannotTell('it is no record in the shape of 2.2');
  const differing = Object.keys(documentedRecordSchema.shape).filter(
    (field) => !isDeepStrictEqual(record[field], listed[field]),
  );
  return differing.length === 0
    ? pass
    : mismatch('the record that the list has', `another ${differing.join(', ')}`);
}

/**
 * Ids of parts may lie between those of assessments. A part's id that answers as a record of its own has to be in the
 * list.
 */
function refusesOneOf([part, ...others]: readonly number[]): Next {
  if (part === undefined) {
    return cannotTell('the ids of parts that were tried are also ids of assessments');
  }
  return ask(record(part), ({ status, body }) => {
    if (status === 404) return pass;
    const found = documentedRecordSchema.safeParse(body).data;
    const accepted = mismatch('status 404', `status ${status}`);
    if (status !== 200 || found?.id !== part) return accepted;
    return page({ ...onDay(found.certified_on), page: '100' }, ({ records, count }) =>
      count > 100 || records.some(({ id }) => id === part) ? refusesOneOf(others) : accepted,
    );
  });
}

export const singleRecord: Checks = {
  'the record is not wrapped in data': ofListed((body) =>
    must(!z.looseObject({ data: z.unknown() }).safeParse(body).success, 'no data', 'data'),
  ),
  'it has the shape of 2.2 and the id asked for': ofListed(hasItsShape),
  'it equals the record of the list': ofListed(equalsListed),
  'the id of a part gives 404': withParts(true, (records) => {
    const ids = records.flatMap(({ id, results }) =>
      results.flatMap(({ assessment_id }) => (assessment_id === id ? [] : [assessment_id])),
    );
    return refusesOneOf(ids.slice(0, 3));
  }),
  'an unknown id gives 404': answers(404, record(unusedId)),
};
