import * as z from 'zod';
import { type DocumentedRecord, documentedPartSchema } from '../../documented-record.ts';
import type { Section } from '../check.ts';
import { noRecords } from '../comparing.ts';
import { cannotTell, contradiction, pass } from '../verdict.ts';
import { allPass } from './record.ts';

const parted = z.looseObject({ results: z.array(z.unknown()) });

/** Compares dates by their day. Section 2.2 covers their format. */
function describesItself({
  id,
  assessment_name,
  certified_on,
  results: [entry],
}: DocumentedRecord) {
  return (
    entry?.assessment_id === id &&
    entry.assessment_name === assessment_name &&
    entry.certified_on.slice(0, 10) === certified_on.slice(0, 10)
  );
}

export const resultParts: Section = {
  id: '2.3',
  title: 'Result part',
  checks: [
    {
      name: 'every part has the documented fields and types',
      run: async (samples) => {
        const parts = (await samples.rows()).flatMap(
          (row) => parted.safeParse(row).data?.results ?? [],
        );
        return allPass(parts, documentedPartSchema, 'parts have the documented fields');
      },
    },
    {
      name: 'an assessment without parts has one entry, which describes itself',
      run: async (samples) => {
        const records = await samples.records();
        if (records.length === 0) return noRecords;
        const single = records.filter(({ results }) => results.length < 2);
        if (single.length === 0) return cannotTell('every record that was seen has parts');
        const others = single.filter((record) => !describesItself(record)).length;
        return others === 0
          ? pass
          : contradiction(
              'one entry with the id, name and date of the record',
              `${others} of ${single.length} records have none or another`,
            );
      },
    },
    {
      name: 'parts have ids of their own',
      run: async (samples) => {
        const several = (await samples.records()).filter(({ results }) => results.length > 1);
        if (several.length === 0) return cannotTell('no record that was seen has several parts');
        const same = several.filter(({ id, results }) =>
          results.some(({ assessment_id }) => assessment_id === id),
        ).length;
        return same === 0
          ? pass
          : contradiction(
              'no part with the id of its record',
              `${same} of ${several.length} records have one`,
            );
      },
    },
  ],
};
