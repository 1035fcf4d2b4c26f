import * as z from 'zod';
import { inEnglish, problemsOf } from '../../../lambda/english.ts';
import { type DocumentedRecord, documentedRecordSchema } from '../../documented-record.ts';
import type { ConformanceCheck, Section } from '../check.ts';
import { noRecords, unusedId } from '../comparing.ts';
import type { HttpAnswer } from '../http-answer.ts';
import { differingFields, type Samples } from '../samples.ts';
import { type CheckVerdict, cannotTell, contradiction, mismatch, pass } from '../verdict.ts';

const wrapped = z.looseObject({ data: z.unknown() });

/** Fetches a listed record by its id. */
function ofListed(
  judge: (answer: HttpAnswer, listed: DocumentedRecord) => CheckVerdict,
): ConformanceCheck['run'] {
  return async (samples) => {
    const { records } = await samples.middle();
    const listed = records.find(({ results }) => results.length > 1) ?? records[0];
    if (listed === undefined) return noRecords;
    const answer = await samples.record(listed.id);
    if (answer.status !== 200) {
      return mismatch('status 200 for a record that was just listed', `status ${answer.status}`);
    }
    return judge(answer, listed);
  };
}

function hasItsShape({ body }: HttpAnswer, { id }: DocumentedRecord): CheckVerdict {
  const record = documentedRecordSchema.safeParse(body, inEnglish);
  if (!record.success) {
    return contradiction('a record in the shape of 2.2', problemsOf(record.error).join('; '));
  }
  return record.data.id === id ? pass : contradiction('the id asked for', 'another id');
}

function equalsListed({ body }: HttpAnswer, listed: DocumentedRecord): CheckVerdict {
  const record = documentedRecordSchema.safeParse(body);
  if (!record.success) return cannotTell('it is no record in the shape of 2.2');
  const differing = differingFields(record.data, listed);
  return differing.length === 0
    ? pass
    : mismatch('the record that the list has', `another ${differing.join(', ')}`);
}

/**
 * Ids of parts may lie between those of assessments. A part's id that answers as a record of its own has to be in the
 * list.
 */
async function isListed(
  samples: Samples,
  { id, certified_on }: DocumentedRecord,
): Promise<boolean> {
  const day = { 'filter[start_date]': certified_on, 'filter[end_date]': certified_on, page: '100' };
  for (let offset = 0; offset < 300; offset += 100) {
    const { records, count } = await samples.page({ ...day, offset: String(offset) });
    if (records.some((record) => record.id === id)) return true;
    if (offset + 100 >= count) return false;
  }
  return true;
}

async function refusesParts(samples: Samples): Promise<CheckVerdict> {
  const parts = (await samples.records()).flatMap(({ id, results }) =>
    results.length > 1
      ? results.flatMap(({ assessment_id }) => (assessment_id === id ? [] : [assessment_id]))
      : [],
  );
  if (parts.length === 0) return cannotTell('no record that was seen has several parts');
  for (const part of parts.slice(0, 3)) {
    const { status, body } = await samples.record(part);
    if (status === 404) return pass;
    if (status !== 200) return mismatch('status 404', `status ${status}`);
    const record = documentedRecordSchema.safeParse(body).data;
    if (record?.id !== part || !(await isListed(samples, record))) {
      return mismatch('status 404', 'status 200');
    }
  }
  return cannotTell('the ids of parts that were tried are also ids of assessments');
}

export const singleRecord: Section = {
  id: '4.3',
  title: 'GET /api/v1/ax/assessments/:id',
  checks: [
    {
      name: 'the record is not wrapped in data',
      run: ofListed(({ body }) =>
        wrapped.safeParse(body).success ? contradiction('no data', 'data') : pass,
      ),
    },
    { name: 'it has the shape of 2.2 and the id asked for', run: ofListed(hasItsShape) },
    { name: 'it equals the record of the list', run: ofListed(equalsListed) },
    { name: 'the id of a part gives 404', run: refusesParts },
    {
      name: 'an unknown id gives 404',
      run: async (samples) => {
        const { status } = await samples.record(unusedId);
        return status === 404 ? pass : mismatch('status 404', `status ${status}`);
      },
    },
  ],
};
