import { Temporal } from 'temporal-polyfill';
import { daysFrom } from '../../../lambda/decisions/days.ts';
import type { DocumentedRecord } from '../../documented-record.ts';
import {
  addsUp,
  divides,
  lists,
  matchesNothing,
  mostFrequent,
  narrows,
  onDay,
  selects,
  unusedId,
} from '../expectations.ts';
import {
  atMiddle,
  type Checks,
  dayOf,
  given,
  look,
  type Next,
  newestFirst,
  oldestFirst,
  page,
  type Seen,
} from '../question.ts';
import type { Params } from '../requests.ts';
import { cannotTell, contradiction, mismatch, noRecords, pass } from '../verdict.ts';

const [start, end] = ['filter[start_date]', 'filter[end_date]'];
const seids = 'filter[seids][]';
const organizations = 'filter[organization_ids][]';
const proctors = 'filter[proctor_ids][]';
const statuses = 'filter[user_record_status][]';
const legacy = 'filter[legacy_record][]';
const unused = String(unusedId);
const eitherStatus = ['active', 'archived'];

export const states: Checks = {
  'an educator record is either active or archived': divides(statuses, eitherStatus),
  'a record is either migrated or natively created': addsUp(
    {},
    { [legacy]: 'true' },
    { [legacy]: 'false' },
  ),
};

const organizationOf = ({ organization_id }: DocumentedRecord) => organization_id;
const proctorsOf = ({ results }: DocumentedRecord) => results.map(({ proctor_id }) => proctor_id);

const isOf = (day: string) => (record: DocumentedRecord) => dayOf(record) === day;

const hasSeid =
  (...wanted: readonly string[]) =>
  ({ seid }: DocumentedRecord) =>
    seid !== null && wanted.includes(seid);

/** As tolerant as any collation: without case, accents and marks. */
const folded = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

const holds =
  (...words: readonly string[]) =>
  ({ assessment_name, name, first_name, last_name, results }: DocumentedRecord): boolean => {
    const parts = results.map((part) => part.assessment_name);
    const texts = [assessment_name, name, first_name, last_name, ...parts].map(folded);
    return words.every((word) => texts.some((text) => text.includes(folded(word))));
  };

/** A word that is long enough to search for, of letters whose case every database can change. */
const isPlain = (word: string) => /^[A-Za-z]{4,}$/.test(word);

/** Searches for a part that does not begin the word, in the other case. */
const findsPart = (field: 'assessment_name' | 'first_name' | 'last_name'): Next =>
  given(
    ({ records }) => records.flatMap((record) => record[field].split(/\s+/)).find(isPlain),
    `no record that was seen has a ${field} of plain letters`,
    (word, seen) => {
      const part = word.slice(1).toUpperCase();
      return narrows({ 'filter[search]': part }, `that part of ${field}`, holds(part), seen);
    },
  );

export const search: Checks = {
  'search finds part of an assessment name or a name, in any case': [
    findsPart('assessment_name'),
    findsPart('first_name'),
    findsPart('last_name'),
  ],
  'two words are also a first name, then a last name': given(
    ({ records }) => records.find((one) => isPlain(one.first_name) && isPlain(one.last_name)),
    'no name that was seen is of two plain words',
    ({ first_name: one, last_name: other }, seen) =>
      narrows({ 'filter[search]': `${one} ${other}` }, 'those names', holds(one, other), seen),
  ),
};

/** A day from the middle of the list that many records have. */
export const onBusyDay = (judge: (day: string) => Next): Next =>
  atMiddle(({ records }) => {
    const day = mostFrequent(records.map(dayOf));
    return day === undefined ? noRecords : judge(day);
  });

/** @returns undefined beyond the calendar: a host need not understand such a day */
const dayBeside = (day: string, days: 1 | -1): string | undefined =>
  daysFrom(Temporal.PlainDate.from(day), days)?.toString();

/** Ranges that meet without a gap or an overlap, the last one open. */
export const splitAt = (days: readonly string[]): readonly Params[] => [
  ...days.flatMap((day, index) => {
    const [from, to] = [days[index - 1], dayBeside(day, -1)];
    return to === undefined ? [] : [{ ...(from !== undefined && { [start]: from }), [end]: to }];
  }),
  { [start]: days.at(-1) ?? '' },
];

/** In an order in which the bound is the first key, so that the first row must have its day. */
const begins = (day: string, params: Params): Next =>
  page(params, ({ records: [first] }) => {
    if (first?.certified_on === day) return pass;
    const expected = `records of ${day} itself, one of which was listed before`;
    return mismatch(expected, first ? `none: the first is of ${dayOf(first)}` : 'no rows');
  });

const farAhead = '2999-01-01';

/** A range without records: far ahead, else behind the newest, else before the oldest. */
const hasNone: Next = page(newestFirst, ({ records: [newest] }) => {
  const last = newest?.certified_on ?? '';
  const after = last < farAhead ? farAhead : dayBeside(last, 1);
  if (after !== undefined) return matchesNothing({ [start]: after });
  return page(oldestFirst, ({ records: [oldest] }) => {
    const before = oldest && dayBeside(oldest.certified_on, -1);
    return before === undefined
      ? cannotTell('the first and the last day of the calendar have records')
      : matchesNothing({ [end]: before });
  });
});

export const dates: Checks = {
  'start_date includes its own day': onBusyDay((day) =>
    begins(day, { ...oldestFirst, [start]: day }),
  ),
  'end_date includes its own day': onBusyDay((day) => begins(day, { ...newestFirst, [end]: day })),
  'a range of one day has the records of that day': onBusyDay((day) =>
    selects({ ...oldestFirst, ...onDay(day) }, day, isOf(day)),
  ),
  'the records before, on and after a day are all records': onBusyDay((day) =>
    addsUp({}, ...splitAt([day, dayBeside(day, 1) ?? []].flat())),
  ),
  'a range without records is a success with count 0': hasNone,
};

const selectsByProctor: Next = given(
  ({ middle }) => mostFrequent(middle.records.flatMap(proctorsOf)),
  'there are no records',
  (proctor, seen) => {
    // Section 2.2 covers a record without parts.
    const isTheirs = (record: DocumentedRecord) =>
      record.results.length === 0 || proctorsOf(record).includes(proctor);
    return narrows({ [proctors]: String(proctor) }, 'that proctor', isTheirs, seen);
  },
);

/** A host that reads only the first part misses the proctors of the others. */
const looksAtEveryPart: Next = given(
  ({ records }) => records.find((record) => new Set(proctorsOf(record)).size > 1),
  'no record that was seen has two proctors',
  (record) => {
    const [first, ...others] = proctorsOf(record);
    return lists(record, { [proctors]: String(others.find((other) => other !== first)) });
  },
);

/** In both orders, since a host might read only the first or only the last value. */
const takesSeveralProctors: Next = look(({ records }) => {
  const [own] = records.flatMap(proctorsOf);
  const record = records.find(
    ({ results }) => results.length > 0 && results.every(({ proctor_id }) => proctor_id !== own),
  );
  if (record === undefined) return cannotTell('every record that was seen has the same proctor');
  const both = [own, ...proctorsOf(record)].slice(0, 2).map(String);
  return [both, both.toReversed()].map((values) => lists(record, { [proctors]: values }));
});

const oneOrganization = 'every record that was seen is of one organization';

/**
 * The filter selects educators by organization, while the field names the organization of the assessment. So a few rows
 * of other organizations are people who have moved, and no contradiction.
 */
const selectsByOrganization: Next = given(
  ({ middle }) => mostFrequent(middle.records.map(organizationOf)),
  'there are no records',
  (organization, { records: seen }) =>
    page({ [organizations]: String(organization), page: '100' }, ({ records, count }) => {
      const isOther = (record: DocumentedRecord) => organizationOf(record) !== organization;
      const others = records.filter(isOther).length;
      const rows = `${others} of ${records.length} rows are others`;
      if (others * 2 > records.length) return contradiction('only its records', rows);
      if (records.length === 0) return mismatch('at least the one listed before', `count ${count}`);
      if (others > 0) return cannotTell(rows);
      return seen.some(isOther) ? pass : cannotTell(oneOrganization);
    }),
);

const takesSeveralOrganizations: Next = given(
  ({ records }) => {
    const two = [...new Set(records.map(organizationOf))].slice(0, 2).map(String);
    return two.length > 1 ? two : undefined;
  },
  oneOrganization,
  (two) => divides(organizations, two),
);

/** Asks for a day and an organization. With OR, other days of that organization would appear. */
const combines: Next = onBusyDay((day) =>
  look(({ middle, records }) => {
    const organization = mostFrequent(middle.records.filter(isOf(day)).map(organizationOf));
    const own = records.filter((record) => organizationOf(record) === organization);
    return own.every(isOf(day))
      ? cannotTell('no organization has records on two of the days seen')
      : selects({ ...onDay(day), [organizations]: String(organization) }, day, isOf(day));
  }),
);

const onSeids = (judge: (seids: readonly string[], seen: Seen) => Next): Next =>
  given(
    ({ records }) => {
      const known = records.flatMap(({ seid }) => (seid?.trim() ? [seid] : []));
      return known.length > 0 ? [...new Set(known)].slice(0, 2) : undefined;
    },
    'no record that was seen has a SEID',
    judge,
  );

const blanks = {
  ...{ 'filter[search]': '', [start]: '', [end]: '' },
  ...{ [organizations]: '', [statuses]: '', [legacy]: '' },
};

export const filters: Checks = {
  'product_ids is a filter: an ID that nobody has yields nothing': matchesNothing({
    'filter[product_ids][]': unused,
  }),
  'user_ids is a filter: an ID that nobody has yields nothing': matchesNothing({
    'filter[user_ids][]': unused,
  }),
  'seids selects educators, repeated keys several': onSeids((known, seen) => [
    ...known.map((one) => narrows({ [seids]: one }, 'that SEID', hasSeid(one), seen)),
    narrows({ [seids]: known }, 'those SEIDs', hasSeid(...known), seen),
    divides(seids, known),
  ]),
  'a SEID that nobody has yields nothing': matchesNothing({
    [seids]: 'conformance-suite-no-such-seid',
  }),
  'a blank SEID never matches': onSeids(([one = ''], seen) => [
    narrows({ [seids]: [one, ''] }, 'the SEID beside the blank', hasSeid(one), seen),
    addsUp({}, { [seids]: '' }),
  ]),
  'proctor_ids selects records with a part of that proctor': [
    selectsByProctor,
    matchesNothing({ [proctors]: unused }),
  ],
  'proctor_ids looks at every part': looksAtEveryPart,
  'proctor_ids, repeated, selects the records of each': takesSeveralProctors,
  'organization_ids selects records of that organization': selectsByOrganization,
  'organization_ids, repeated, selects those of each': takesSeveralOrganizations,
  'an organization outside the scope yields no records, not an error': matchesNothing({
    [organizations]: unused,
  }),
  'without a status filter, archived educators are listed too': addsUp(
    {},
    { [statuses]: eitherStatus },
  ),
  'legacy_record=both is everything': addsUp({}, { [legacy]: 'both' }),
  'filters combine with AND': combines,
  'a blank filter equals an omitted one': addsUp({}, blanks),
};
