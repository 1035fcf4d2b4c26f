import { Temporal } from 'temporal-polyfill';
import { daysFrom } from '../../../lambda/decisions/days.ts';
import type { DocumentedRecord } from '../../documented-record.ts';
import {
  addsUp,
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
  given,
  look,
  type Next,
  newestFirst,
  oldestFirst,
  page,
  type Section,
  type Seen,
} from '../question.ts';
import type { Params } from '../requests.ts';
import { cannotTell, contradiction, mismatch, noRecords, pass } from '../verdict.ts';

const [start, end, search] = ['filter[start_date]', 'filter[end_date]', 'filter[search]'];
const seids = 'filter[seids][]';
const organizations = 'filter[organization_ids][]';
const proctors = 'filter[proctor_ids][]';
const statuses = 'filter[user_record_status][]';
const legacy = 'filter[legacy_record][]';
const unused = String(unusedId);

export const states: Section = {
  id: '3',
  title: 'States',
  checks: {
    'an educator record is either active or archived': addsUp(
      { [statuses]: ['active', 'archived'] },
      { [statuses]: 'active' },
      { [statuses]: 'archived' },
    ),
    'a record is either migrated or natively created': addsUp(
      {},
      { [legacy]: 'true' },
      { [legacy]: 'false' },
    ),
  },
};

/** As tolerant as any collation: without case, accents and marks. */
const folded = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

const holds =
  (...words: readonly string[]) =>
  ({ assessment_name, name, first_name, last_name, results }: DocumentedRecord): boolean => {
    const texts = [
      ...[assessment_name, name, first_name, last_name],
      ...results.map((part) => part.assessment_name),
    ].map(folded);
    return words.every((word) => texts.some((text) => text.includes(folded(word))));
  };

/** A word that is long enough to search for, of letters whose case every database can change. */
const plainWord = /^[A-Za-z]{4,}$/;

/** A part that does not begin the word, in the other case. */
const findsPart = (field: 'assessment_name' | 'first_name' | 'last_name'): Next =>
  given(
    ({ records }) => {
      const words = records.flatMap((record) => record[field].split(/\s+/));
      return words
        .find((word) => plainWord.test(word))
        ?.slice(1)
        .toUpperCase();
    },
    `no record that was seen has a ${field} of plain letters`,
    (part, seen) => narrows({ [search]: part }, holds(part), seen),
  );

export const searchChecks: Section['checks'] = {
  'search finds part of an assessment name or a name, in any case': [
    findsPart('assessment_name'),
    findsPart('first_name'),
    findsPart('last_name'),
  ],
  'two words are also a first name, then a last name': given(
    ({ records }) =>
      records.find(
        ({ first_name, last_name }) => plainWord.test(first_name) && plainWord.test(last_name),
      ),
    'no name that was seen is of two plain words',
    ({ first_name: one, last_name: other }, seen) =>
      narrows({ [search]: `${one} ${other}` }, holds(one, other), seen),
  ),
};

/** A day from the middle of the list that many records have. */
export const onBusyDay = (judge: (day: string) => Next): Next =>
  atMiddle(({ records }) => {
    const day = mostFrequent(records.map(({ certified_on }) => certified_on));
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
const isInclusive = (
  paramsOf: (day: string) => Params,
  isWithin: (other: string, day: string) => boolean,
): Next =>
  onBusyDay((day) => [
    selects(paramsOf(day), ({ certified_on }) => isWithin(certified_on, day)),
    page(paramsOf(day), ({ records: [first] }) =>
      first?.certified_on === day
        ? pass
        : mismatch(
            `records of ${day} itself, one of which was listed before`,
            first === undefined ? 'no rows' : `none: the first is of ${first.certified_on}`,
          ),
    ),
  ]);

const isOf =
  (day: string) =>
  ({ certified_on }: DocumentedRecord) =>
    certified_on === day;

const farAhead = '2999-01-01';

/** A range without records: far ahead, else before the oldest. */
const hasNone: Next = page(newestFirst, ({ records: [newest] }) => {
  if (newest === undefined || newest.certified_on < farAhead) {
    return matchesNothing({ [start]: farAhead });
  }
  return page(oldestFirst, ({ records: [oldest = newest] }) => {
    const before = dayBeside(oldest.certified_on, -1);
    return before === undefined
      ? cannotTell('the first day of the calendar and far ones have records')
      : matchesNothing({ [end]: before });
  });
});

export const dateChecks: Section['checks'] = {
  'start_date includes its own day': isInclusive(
    (day) => ({ ...oldestFirst, [start]: day }),
    (other, day) => other >= day,
  ),
  'end_date includes its own day': isInclusive(
    (day) => ({ ...newestFirst, [end]: day }),
    (other, day) => other <= day,
  ),
  'a range of one day has the records of that day': onBusyDay((day) =>
    selects({ ...oldestFirst, ...onDay(day) }, isOf(day)),
  ),
  'the records before, on and after a day are all records': onBusyDay((day) =>
    addsUp({}, ...splitAt([day, dayBeside(day, 1) ?? []].flat())),
  ),
  'a range without records is a success with count 0': hasNone,
};

const proctorsOf = ({ results }: DocumentedRecord) => results.map(({ proctor_id }) => proctor_id);

const ofProctor: Next = given(
  ({ middle }) => mostFrequent(middle.records.flatMap(proctorsOf)),
  'there are no records',
  (proctor, seen) => [
    // Section 2.2 covers a record without parts.
    narrows(
      { [proctors]: String(proctor) },
      ({ results }) =>
        results.length === 0 || results.some(({ proctor_id }) => proctor_id === proctor),
      seen,
    ),
    matchesNothing({ [proctors]: unused }),
  ],
);

/** A host that reads only the first part misses the proctors of the others. */
const ofAnyPart: Next = given(
  ({ records }) => records.find((record) => new Set(proctorsOf(record)).size > 1),
  'no record that was seen has two proctors',
  (record) => {
    const [first, ...others] = proctorsOf(record);
    return lists(record, { [proctors]: String(others.find((other) => other !== first)) });
  },
);

/** In both orders, since a host might read only the first or only the last value. */
const ofSeveralProctors: Next = given(
  ({ records }) => {
    const [own] = records.flatMap(proctorsOf);
    const record = records.find(
      ({ results }) => results.length > 0 && results.every(({ proctor_id }) => proctor_id !== own),
    );
    return record && { record, both: [own, ...proctorsOf(record)].slice(0, 2).map(String) };
  },
  'every record that was seen has the same proctor',
  ({ record, both }) => [
    lists(record, { [proctors]: both }),
    lists(record, { [proctors]: both.toReversed() }),
  ],
);

const oneOrganization = cannotTell('every record that was seen is of one organization');
const organizationOf = ({ organization_id }: DocumentedRecord) => organization_id;

/**
 * The filter selects educators by organization, while the field names the organization of the assessment. So a few rows
 * of other organizations are people who have moved, and no contradiction.
 */
const ofOrganization: Next = given(
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
      return seen.some(isOther) ? pass : oneOrganization;
    }),
);

const ofSeveralOrganizations: Next = look(({ records }) => {
  const [one, other] = new Set(records.map(organizationOf).map(String));
  if (one === undefined) return noRecords;
  if (other === undefined) return oneOrganization;
  const both = { [organizations]: [one, other] };
  return addsUp(both, { [organizations]: one }, { [organizations]: other });
});

/** Asks for a day and an organization. With OR, other days of that organization would appear. */
const combines: Next = onBusyDay((day) =>
  look((seen) => {
    const organization = mostFrequent(seen.middle.records.filter(isOf(day)).map(organizationOf));
    const own = seen.records.filter((record) => organizationOf(record) === organization);
    return own.every(isOf(day))
      ? cannotTell('no organization has records on two of the days seen')
      : selects({ ...onDay(day), [organizations]: String(organization) }, isOf(day));
  }),
);

const hasSeid =
  (...wanted: readonly string[]) =>
  ({ seid }: DocumentedRecord) =>
    seid !== null && wanted.includes(seid);

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
  ...{ [search]: '', [start]: '', [end]: '' },
  ...{ [organizations]: '', [statuses]: '', [legacy]: '' },
};

export const filterChecks: Section['checks'] = {
  'product_ids is a filter: an ID that nobody has yields nothing': matchesNothing({
    'filter[product_ids][]': unused,
  }),
  'user_ids is a filter: an ID that nobody has yields nothing': matchesNothing({
    'filter[user_ids][]': unused,
  }),
  'seids selects educators, repeated keys several': onSeids((known, seen) => [
    ...known.map((one) => narrows({ [seids]: one }, hasSeid(one), seen)),
    narrows({ [seids]: known }, hasSeid(...known), seen),
    addsUp({ [seids]: known }, ...known.map((one) => ({ [seids]: one }))),
  ]),
  'a SEID that nobody has yields nothing': matchesNothing({
    [seids]: 'conformance-suite-no-such-seid',
  }),
  'a blank SEID never matches': onSeids(([one = ''], seen) => [
    narrows({ [seids]: [one, ''] }, hasSeid(one), seen),
    addsUp({}, { [seids]: '' }),
  ]),
  'proctor_ids selects records with a part of that proctor': ofProctor,
  'proctor_ids looks at every part': ofAnyPart,
  'proctor_ids, repeated, selects the records of each': ofSeveralProctors,
  'organization_ids selects records of that organization': ofOrganization,
  'organization_ids, repeated, selects those of each': ofSeveralOrganizations,
  'an organization outside the scope yields no records, not an error': matchesNothing({
    [organizations]: unused,
  }),
  'without a status filter, archived educators are listed too': addsUp(
    {},
    { [statuses]: ['active', 'archived'] },
  ),
  'legacy_record=both is everything': addsUp({}, { [legacy]: 'both' }),
  'filters combine with AND': combines,
  'a blank filter equals an omitted one': addsUp({}, blanks),
};
