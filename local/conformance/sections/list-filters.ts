import type { DocumentedRecord } from '../../documented-record.ts';
import type { ConformanceCheck } from '../check.ts';
import {
  addsUp,
  matchesNothing,
  mostFrequent,
  narrowsTo,
  noRecords,
  unusedId,
} from '../comparing.ts';
import type { Samples } from '../samples.ts';
import {
  type CheckVerdict,
  cannotTell,
  contradiction,
  firstTrouble,
  mismatch,
  pass,
} from '../verdict.ts';
import { busyDay } from './list-dates.ts';

const seids = 'filter[seids][]';
const organizations = 'filter[organization_ids][]';
const proctors = 'filter[proctor_ids][]';
const statuses = 'filter[user_record_status][]';
const legacy = 'filter[legacy_record][]';
const ids = (name: string) => `filter[${name}][]`;

const unusedSeid = 'conformance-suite-no-such-seid';

async function knownSeids(samples: Samples): Promise<string[]> {
  const seen = (await samples.records()).flatMap(({ seid }) => (seid?.trim() ? [seid] : []));
  return [...new Set(seen)];
}

async function busyOrganization(samples: Samples): Promise<number | undefined> {
  const { records } = await samples.middle();
  return mostFrequent(records.map(({ organization_id }) => organization_id));
}

/**
 * The filter selects educators by organization, while the field names the organization of the assessment. So a few rows
 * of other organizations are people who have moved, and no contradiction.
 */
async function ofOrganization(samples: Samples): Promise<CheckVerdict> {
  const organization = await busyOrganization(samples);
  if (organization === undefined) return noRecords;
  const { records, count } = await samples.page({
    [organizations]: String(organization),
    page: '100',
  });
  const others = records.filter(({ organization_id }) => organization_id !== organization).length;
  if (others * 2 > records.length) {
    return contradiction('only its records', `${others} of ${records.length} rows are others`);
  }
  if (records.length === 0) return mismatch('at least the one listed before', `count ${count}`);
  if (others > 0) return cannotTell(`${others} of ${records.length} rows are others`);
  const seen = await samples.records();
  return seen.every(({ organization_id }) => organization_id === organization)
    ? cannotTell('every record that was seen is of one organization')
    : pass;
}

/** Asks for a day and an organization. With OR, other days of that organization would appear. */
async function combines(samples: Samples): Promise<CheckVerdict> {
  const day = await busyDay(samples);
  const { records } = await samples.middle();
  const organization = mostFrequent(
    records.flatMap(({ certified_on, organization_id }) =>
      certified_on === day ? [organization_id] : [],
    ),
  );
  if (day === undefined || organization === undefined) return noRecords;
  const seen = await samples.records();
  const elsewhere = seen.some(
    (record) => record.organization_id === organization && record.certified_on !== day,
  );
  if (!elsewhere) return cannotTell('no organization has records on two of the days seen');
  const both = await samples.page({
    'filter[start_date]': day,
    'filter[end_date]': day,
    [organizations]: String(organization),
    page: '100',
  });
  const others = both.records.filter(({ certified_on }) => certified_on !== day).length;
  if (others > 0) {
    return contradiction(`only records of ${day}`, `${others} of ${both.rows.length} are others`);
  }
  return both.rows.length > 0 ? pass : mismatch('the record listed before', 'no rows');
}

const firstProctor = ({ results }: DocumentedRecord) => results[0]?.proctor_id;

/** A request for these proctors on the record's day lists the record. */
async function listsByProctors(
  samples: Samples,
  { id, certified_on: day }: DocumentedRecord,
  wanted: readonly number[],
): Promise<CheckVerdict> {
  const { records, count } = await samples.page({
    [proctors]: wanted.map(String),
    'filter[start_date]': day,
    'filter[end_date]': day,
    page: '100',
  });
  if (records.some((record) => record.id === id)) return pass;
  return count > 100
    ? cannotTell('that day has more records than a page')
    : mismatch('the record listed before', `${records.length} rows without it`);
}

/** A host that reads only the first part misses the proctors of the others. */
async function ofAnyPart(samples: Samples): Promise<CheckVerdict> {
  for (const record of await samples.records()) {
    const other = record.results.find(({ proctor_id }) => proctor_id !== firstProctor(record));
    if (other !== undefined) return await listsByProctors(samples, record, [other.proctor_id]);
  }
  return cannotTell('no record that was seen has two proctors');
}

/** In both orders, since a host might read only the first or only the last value. */
async function ofSeveralProctors(samples: Samples): Promise<CheckVerdict> {
  const seen = await samples.records();
  const own = seen.map(firstProctor).find((proctor) => proctor !== undefined);
  if (own === undefined) return noRecords;
  const without = seen.find(({ results }) => !results.some(({ proctor_id }) => proctor_id === own));
  const other = without && firstProctor(without);
  if (without === undefined || other === undefined) {
    return cannotTell('every record that was seen has the same proctor');
  }
  return firstTrouble([
    await listsByProctors(samples, without, [own, other]),
    await listsByProctors(samples, without, [other, own]),
  ]);
}

async function ofSeveralOrganizations(samples: Samples): Promise<CheckVerdict> {
  const seen = (await samples.records()).map(({ organization_id }) => String(organization_id));
  const [one, other] = new Set(seen);
  if (one === undefined) return noRecords;
  if (other === undefined) return cannotTell('every record that was seen is of one organization');
  return await addsUp(samples, { [organizations]: [one, other] }, [
    { [organizations]: one },
    { [organizations]: other },
  ]);
}

const blanks = {
  'filter[search]': '',
  'filter[start_date]': '',
  'filter[end_date]': '',
  [organizations]: '',
  [statuses]: '',
  [legacy]: '',
};

const unused = (name: string): ConformanceCheck => ({
  name: `${name} is a filter: an ID that nobody has yields nothing`,
  run: (samples) => matchesNothing(samples, { [ids(name)]: String(unusedId) }),
});

export const filterChecks: readonly ConformanceCheck[] = [
  unused('product_ids'),
  unused('user_ids'),
  {
    name: 'seids selects educators, repeated keys several',
    run: async (samples) => {
      const [one, ...rest] = await knownSeids(samples);
      const other = rest[0];
      if (one === undefined) return cannotTell('no record that was seen has a SEID');
      const alone = await narrowsTo(
        samples,
        { [seids]: one },
        ({ seid }) => seid === one,
        'records of that SEID',
      );
      if (alone.verdict !== 'pass' || other === undefined) return alone;
      const both = { [seids]: [one, other] };
      return firstTrouble([
        await narrowsTo(
          samples,
          both,
          ({ seid }) => seid === one || seid === other,
          'records of those two SEIDs',
        ),
        await addsUp(samples, both, [{ [seids]: one }, { [seids]: other }]),
      ]);
    },
  },
  {
    name: 'a SEID that nobody has yields nothing',
    run: (samples) => matchesNothing(samples, { [seids]: unusedSeid }),
  },
  {
    name: 'a blank SEID never matches',
    run: async (samples) => {
      const [one] = await knownSeids(samples);
      if (one === undefined) return cannotTell('no record that was seen has a SEID');
      return firstTrouble([
        await narrowsTo(
          samples,
          { [seids]: [one, ''] },
          ({ seid }) => seid === one,
          'records of the SEID beside the blank one',
        ),
        await addsUp(samples, {}, [{ [seids]: '' }]),
      ]);
    },
  },
  {
    name: 'proctor_ids selects records with a part of that proctor',
    run: async (samples) => {
      const seen = (await samples.middle()).records.flatMap(({ results }) => results);
      const proctor = mostFrequent(seen.map(({ proctor_id }) => proctor_id));
      if (proctor === undefined) return noRecords;
      return firstTrouble([
        await narrowsTo(
          samples,
          { [proctors]: String(proctor) },
          // Section 2.2 covers a record without parts.
          ({ results }) =>
            results.length === 0 || results.some(({ proctor_id }) => proctor_id === proctor),
          'records with a part of that proctor',
        ),
        await matchesNothing(samples, { [proctors]: String(unusedId) }),
      ]);
    },
  },
  { name: 'proctor_ids looks at every part', run: ofAnyPart },
  { name: 'proctor_ids, repeated, selects the records of each', run: ofSeveralProctors },
  { name: 'organization_ids selects records of that organization', run: ofOrganization },
  { name: 'organization_ids, repeated, selects those of each', run: ofSeveralOrganizations },
  {
    name: 'an organization outside the scope yields no records, not an error',
    run: (samples) => matchesNothing(samples, { [organizations]: String(unusedId) }),
  },
  {
    name: 'without a status filter, archived educators are listed too',
    run: (samples) => addsUp(samples, {}, [{ [statuses]: ['active', 'archived'] }]),
  },
  {
    name: 'legacy_record=both is everything',
    run: (samples) => addsUp(samples, {}, [{ [legacy]: 'both' }]),
  },
  { name: 'filters combine with AND', run: combines },
  {
    name: 'a blank filter equals an omitted one',
    run: (samples) => addsUp(samples, {}, [blanks]),
  },
];
