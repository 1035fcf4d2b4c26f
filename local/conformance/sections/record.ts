import * as z from 'zod/mini';
import { inEnglish, problemsOf } from '../../../lambda/english.ts';
import { documentedRecordSchema } from '../../documented-record.ts';
import type { Section } from '../check.ts';
import { noRecords } from '../comparing.ts';
import { type CheckVerdict, contradiction, pass } from '../verdict.ts';

/** The parts have their own section. */
const fields = z.extend(documentedRecordSchema, { results: z.array(z.unknown()) });
const results = z.looseObject({ results: z.array(z.unknown()) });
const identified = z.looseObject({ id: z.int() });

/** Rows that do not fit a schema, summed up by the problems of the first. Section 2.3 uses it, too. */
export function allPass(
  rows: readonly unknown[],
  schema: z.ZodMiniType,
  expected: string,
): CheckVerdict {
  if (rows.length === 0) return noRecords;
  const errors = rows.flatMap((row) => schema.safeParse(row, inEnglish).error ?? []);
  const [first] = errors;
  if (first === undefined) return pass;
  const problems = problemsOf(first).join('; ');
  return contradiction(
    expected,
    `${errors.length} of ${rows.length} do not, the first: ${problems}`,
  );
}

export const record: Section = {
  id: '2.2',
  title: 'Assessment record',
  checks: [
    {
      name: 'every record has the documented fields and types',
      run: async (samples) =>
        allPass(await samples.rows(), fields, 'records have the documented fields'),
    },
    {
      name: 'results is always populated',
      run: async (samples) => {
        const rows = (await samples.rows()).flatMap((row) => results.safeParse(row).data ?? []);
        if (rows.length === 0) return noRecords;
        const empty = rows.filter(({ results }) => results.length === 0).length;
        return empty === 0
          ? pass
          : contradiction('one entry at least', `${empty} of ${rows.length} records have none`);
      },
    },
    {
      name: 'an id names one record',
      run: async (samples) => {
        for (const { rows } of [await samples.newest(), await samples.middle()]) {
          const ids = rows.flatMap((row) => identified.safeParse(row).data?.id ?? []);
          const repeated = ids.length - new Set(ids).size;
          if (repeated > 0) return contradiction('distinct ids in a page', `${repeated} repeated`);
        }
        return (await samples.rows()).length === 0 ? noRecords : pass;
      },
    },
  ],
};
