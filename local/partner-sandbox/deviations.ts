import { Temporal } from 'temporal-polyfill';
import type { DocumentedRecord } from '../documented-record.ts';
import type { SandboxRow } from './genesis.ts';
import { filterTests, type Test } from './matching.ts';
import { isBlank, type ParsedQuery, type RawQuery, readListQuery, sorts } from './query.ts';
import { limits, type Rules, type SandboxAnswer } from './rules.ts';

/** One way to contradict the document: it replaces seams of a server that follows it. */
interface Deviation {
  /** The statement of docs/partner.md that it breaks. */
  readonly breaks: string;
  readonly apply: (rules: Rules) => Partial<Rules>;
}

/** A deviation that only reads the query string in another way. */
const misread =
  (change: (query: ParsedQuery, raw: RawQuery) => Partial<ParsedQuery>): Deviation['apply'] =>
  (rules) => ({
    listQuery: (raw) => {
      const query = rules.listQuery(raw);
      return { ...query, ...change(query, raw) };
    },
  });

/** A deviation that lists fewer rows: those that pass a further test, if the query asks for one. */
const stricter =
  (test: (query: ParsedQuery, raw: RawQuery) => Test | undefined): Deviation['apply'] =>
  (rules) => ({
    matching: (query, raw) => {
      const faithful = rules.matching(query, raw);
      return { ...faithful, tests: [...faithful.tests, test(query, raw) ?? []].flat() };
    },
  });

/** A deviation that shows each record in another form. */
const shownAs =
  (form: (record: DocumentedRecord) => DocumentedRecord): Deviation['apply'] =>
  (rules) => ({ record: (record) => rules.record(form(record)) });

const nothing: Test = () => false;

const daysLater = (day: string | undefined, days: number) =>
  day && Temporal.PlainDate.from(day).add({ days }).toString();

const firstOf = (ids: ReadonlySet<number> | undefined) => ids && new Set([...ids].slice(0, 1));

const badRequest = (message: string): SandboxAnswer => ({
  status: 400,
  body: { errors: [{ message }] },
});

const hasPart =
  (id: number) =>
  ({ assessment: { results } }: SandboxRow) =>
    results.some(({ assessment_id }) => assessment_id === id);

function hasBlankFilter({ scalars, lists }: RawQuery): boolean {
  return [...scalars.values(), ...[...lists.values()].flat()].some(isBlank);
}

const known = {
  'cap-of-200': {
    breaks: '4.2: page sizes above 100 are reduced to 100',
    apply: () => ({ listQuery: (raw) => readListQuery(raw, { ...limits, maximumPage: 200 }) }),
  },
  'default-page-25': {
    breaks: '4.2: the default page size is 50',
    apply: () => ({ listQuery: (raw) => readListQuery(raw, { ...limits, defaultPage: 25 }) }),
  },
  'oversize-page-400': {
    breaks: '7, rule 3: an oversize page never produces an error',
    apply: () => ({
      refuse: (raw) => (Number(raw.page) > 100 ? badRequest('page is too large') : undefined),
    }),
  },
  'page-is-a-number': {
    breaks: '4.2: page is a size, not a number',
    apply: misread((_, raw) => ({
      page: 50,
      offset: Math.max(0, (Number(raw.page ?? 1) || 1) - 1) * 50,
    })),
  },
  'offset-ignored': {
    breaks: '4.2: offset is the number of records to skip',
    apply: misread(() => ({ offset: 0 })),
  },
  'unknown-sort-400': {
    breaks: '4.2: an unrecognised sort falls back, no error',
    apply: () => ({
      refuse: ({ sort }) =>
        sort !== undefined && !sorts.some((name) => name === sort)
          ? badRequest('sort is not supported')
          : undefined,
    }),
  },
  'sort-ignored': {
    breaks: '4.2: sort by user_name, proctor_name or product_name',
    apply: misread(() => ({ sort: 'certified_on' })),
  },
  'order-case-sensitive': {
    breaks: '4.2: order is case-insensitive',
    apply: misread((_, raw) => ({ descending: raw.order === 'DESC' })),
  },
  'default-order-desc': {
    breaks: '4.2: order defaults to ASC',
    apply: misread((_, raw) => ({ descending: raw.order?.toUpperCase() !== 'ASC' })),
  },
  'product-name-order-ignored': {
    breaks: '4.2: order applies to every sort',
    apply: misread(({ sort, descending }) => ({
      descending: descending && sort !== 'product_name',
    })),
  },
  'first-part-proctor-only': {
    breaks: '4.2: proctor_ids finds the proctor of any part',
    apply: stricter(
      ({ proctorIds }) =>
        proctorIds &&
        (({ assessment }) => proctorIds.has(assessment.results?.[0]?.proctor_id ?? Number.NaN)),
    ),
  },
  'first-proctor-id-only': {
    breaks: '4.2: proctor_ids takes several values',
    apply: misread(({ proctorIds }) => ({ proctorIds: firstOf(proctorIds) })),
  },
  'first-organization-id-only': {
    breaks: '4.2: organization_ids takes several values',
    apply: misread(({ organizationIds }) => ({ organizationIds: firstOf(organizationIds) })),
  },
  'start-date-exclusive': {
    breaks: '4.2: on or after the start date',
    apply: misread(({ first }) => ({ first: daysLater(first, 1) })),
  },
  'end-date-exclusive': {
    breaks: '4.2: through the end of the end date',
    apply: misread(({ last }) => ({ last: daysLater(last, -1) })),
  },
  'filters-or': {
    breaks: '4.2, filter rule 1: filters combine with AND',
    apply: () => ({
      matching: (query) => {
        const tests = filterTests(query);
        const { first, last } = query;
        if (first !== undefined || last !== undefined)
          tests.push(
            ({ assessment: { certified_on: day } }) =>
              day >= (first ?? day) && day <= (last ?? day),
          );
        const any: Test = (row) => tests.some((test) => test(row));
        return { first: undefined, last: undefined, tests: tests.length > 0 ? [any] : [] };
      },
    }),
  },
  'blank-filter-matches-nothing': {
    breaks: '4.2, filter rule 2: a blank filter equals an omitted one',
    apply: stricter((_, raw) => (hasBlankFilter(raw) ? nothing : undefined)),
  },
  'blank-seid-matches-null': {
    breaks: '4.2, filter rule 5: a blank SEID never matches',
    apply: stricter((_, { lists }) =>
      lists.get('seids')?.some(isBlank) ? ({ assessment }) => assessment.seid === null : undefined,
    ),
  },
  'scope-403': {
    breaks: '4.2, filter rule 4: an organization out of scope yields no records, not an error',
    apply: () => ({
      refuse: ({ lists }, { organizationIds }) =>
        lists.get('organization_ids')?.some((id) => !organizationIds.has(Number(id)))
          ? { status: 403, body: { errors: [{ message: 'organization is out of scope' }] } }
          : undefined,
    }),
  },
  'search-single-word': {
    breaks: '4.2: a two-word search is matched as first name, then last name',
    apply: stricter(({ search }) => (search?.split(/\s+/).length === 2 ? nothing : undefined)),
  },
  'search-case-sensitive': {
    breaks: '4.2: search is case-insensitive',
    apply: stricter(
      ({ search = '' }) =>
        ({ assessment: { assessment_name, first_name, last_name } }) =>
          [assessment_name, first_name, last_name, `${first_name} ${last_name}`].some((text) =>
            text?.includes(search),
          ),
    ),
  },
  'legacy-both-nothing': {
    breaks: '4.2: legacy_record both means everything',
    apply: stricter((_, { lists }) =>
      lists.get('legacy_record')?.includes('both') ? nothing : undefined,
    ),
  },
  'archived-hidden': {
    breaks: '4.2: without a status filter, archived educators are listed too',
    apply: misread(({ statuses }) => ({ statuses: statuses ?? new Set(['active']) })),
  },
  'count-after-paging': {
    breaks: '2.4: count ignores paging',
    apply: (rules) => ({
      meta: (count, query, rows) => ({ ...rules.meta(count, query, rows), count: rows }),
    }),
  },
  'page-echo-requested': {
    breaks: '2.4: meta.page is the size after the cap',
    apply: (rules) => {
      const requested = new WeakMap<ParsedQuery, number>();
      return {
        listQuery: (raw) => {
          const query = rules.listQuery(raw);
          requested.set(query, Number(raw.page ?? query.page) || query.page);
          return query;
        },
        meta: (count, query, rows) => ({
          ...rules.meta(count, query, rows),
          page: requested.get(query) ?? query.page,
        }),
      };
    },
  },
  'wrapped-record': {
    breaks: '4.3: a single record is not wrapped in data',
    apply: () => ({ single: (record) => ({ data: record }) }),
  },
  'part-id-accepted': {
    breaks: '4.3: the id of a part gives 404',
    apply: (rules) => ({
      find: (id, view) => rules.find(id, view) ?? [...view.all.values()].find(hasPart(id)),
    }),
  },
  'unknown-record-200': {
    breaks: '4.3: an unknown id gives 404',
    apply: () => ({ notFound: { status: 200, body: null } }),
  },
  'results-empty': {
    breaks: '2.3, rule 2: an assessment without parts has one entry',
    apply: shownAs((assessment) => ({
      ...assessment,
      results: assessment.results.filter(({ assessment_id }) => assessment_id !== assessment.id),
    })),
  },
  'self-entry-other-id': {
    breaks: '2.3, rule 2: the single entry carries the id of the record',
    apply: shownAs((assessment) => ({
      ...assessment,
      results: assessment.results.map((part) =>
        part.assessment_id === assessment.id
          ? { ...part, assessment_id: part.assessment_id + 1_000_000 }
          : part,
      ),
    })),
  },
  'date-with-time': {
    breaks: '2.2: certified_on is written YYYY-MM-DD',
    apply: shownAs((assessment) => ({
      ...assessment,
      certified_on: `${assessment.certified_on}T00:00:00Z`,
    })),
  },
  'expires-in-3600': {
    breaks: '2.1: expires_in is 7200',
    apply: () => ({ expiresIn: () => 3600 }),
  },
  'token-type-mac': {
    breaks: '2.1: token_type is Bearer',
    apply: () => ({ tokenType: 'mac' }),
  },
  'invalid-client-400': {
    breaks: '7: a wrong client ID or secret gives 401 invalid_client',
    apply: (rules) => ({ invalidClient: { ...rules.invalidClient, status: 400 } }),
  },
  'grant-type-401': {
    breaks: '7: an unsupported grant_type gives 400 unsupported_grant_type',
    apply: (rules) => ({ unsupportedGrantType: rules.invalidClient }),
  },
  'invalid-token-body': {
    breaks: '7: an invalid token gives error invalid_token and a description',
    apply: (rules) => ({
      invalidToken: { ...rules.invalidToken, body: { error: 'unauthorized' } },
    }),
  },
  'invalid-token-403': {
    breaks: '7: an invalid token gives 401',
    apply: (rules) => ({ invalidToken: { ...rules.invalidToken, status: 403 } }),
  },
} as const satisfies Record<string, Deviation>;

export type DeviationName = keyof typeof known;

/** Every deviation with the statement it breaks, for lists in help and documentation. */
export const deviations: Readonly<Record<DeviationName, Deviation>> = known;

const isName = (name: string): name is DeviationName => name in known;
const [firstName = 'cap-of-200', ...otherNames] = Object.keys(known).filter(isName);
/** At least one, as a zod enum requires. */
export const deviationNames: [DeviationName, ...DeviationName[]] = [firstName, ...otherNames];

/** The document's rules, with the named deviations. */
export function deviate(rules: Rules, names: readonly DeviationName[]): Rules {
  let current = rules;
  for (const name of names) current = { ...current, ...deviations[name].apply(current) };
  return current;
}
