import { filterTests } from './matching.ts';
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

const firstOf = (ids: ReadonlySet<number> | undefined) => ids && new Set([...ids].slice(0, 1));

const badRequest = (message: string): SandboxAnswer => ({
  status: 400,
  body: { errors: [{ message }] },
});

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
    apply: (rules) => ({
      listQuery: (raw) => ({ ...rules.listQuery(raw), offset: 0 }),
    }),
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
    apply: (rules) => ({
      matching: (query, records, raw) => {
        const faithful = rules.matching(query, records, raw);
        const { proctorIds } = query;
        if (proctorIds === undefined) return faithful;
        const { proctors } = records.catalogue;
        const first = (slot: number) => proctorIds.has(proctors.at(records.firstProctor(slot)).id);
        return { ...faithful, tests: [...faithful.tests, first] };
      },
    }),
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
    apply: misread(({ first }) => ({ first: first === undefined ? first : first + 1 })),
  },
  'end-date-exclusive': {
    breaks: '4.2: through the end of the end date',
    apply: misread(({ last }) => ({ last: last === undefined ? last : last - 1 })),
  },
  'filters-or': {
    breaks: '4.2, filter rule 1: filters combine with AND',
    apply: () => ({
      matching: (query, records) => {
        const tests = filterTests(query, records);
        const { first, last } = query;
        if (first !== undefined || last !== undefined) {
          tests.push((slot) => {
            const day = records.day(slot);
            return day >= (first ?? -Infinity) && day <= (last ?? Infinity);
          });
        }
        const any = (slot: number) => tests.some((test) => test(slot));
        return { first: -Infinity, last: Infinity, tests: tests.length > 0 ? [any] : [] };
      },
    }),
  },
  'blank-filter-matches-nothing': {
    breaks: '4.2, filter rule 2: a blank filter equals an omitted one',
    apply: (rules) => ({
      matching: (query, records, raw) => {
        const faithful = rules.matching(query, records, raw);
        return hasBlankFilter(raw) ? { ...faithful, tests: [() => false] } : faithful;
      },
    }),
  },
  'blank-seid-matches-null': {
    breaks: '4.2, filter rule 5: a blank SEID never matches',
    apply: (rules) => ({
      matching: (query, records, raw) => {
        const faithful = rules.matching(query, records, raw);
        if (!raw.lists.get('seids')?.some(isBlank)) return faithful;
        const { educators } = records.catalogue;
        const unrecorded = (slot: number) => educators.at(records.educator(slot)).seid === null;
        return { ...faithful, tests: [...faithful.tests, unrecorded] };
      },
    }),
  },
  'scope-403': {
    breaks: '4.2, filter rule 4: an organization out of scope yields no records, not an error',
    apply: () => ({
      refuse: ({ lists }, { scope }) =>
        lists.get('organization_ids')?.some((id) => !scope.organizationIds.has(Number(id)))
          ? { status: 403, body: { errors: [{ message: 'organization is out of scope' }] } }
          : undefined,
    }),
  },
  'search-single-word': {
    breaks: '4.2: a two-word search is matched as first name, then last name',
    apply: (rules) => ({
      matching: (query, records, raw) => {
        const faithful = rules.matching(query, records, raw);
        const words = query.search?.split(/\s+/) ?? [];
        return words.length === 2 ? { ...faithful, tests: [() => false] } : faithful;
      },
    }),
  },
  'search-case-sensitive': {
    breaks: '4.2: search is case-insensitive',
    apply: (rules) => ({
      matching: (query, records, raw) => {
        const { search } = query;
        const faithful = rules.matching(query, records, raw);
        if (search === undefined) return faithful;
        const exact = (slot: number) => {
          const { assessment_name, first_name, last_name } = records.assessment(slot);
          return [assessment_name, first_name, last_name, `${first_name} ${last_name}`].some(
            (text) => text.includes(search),
          );
        };
        return { ...faithful, tests: [...faithful.tests, exact] };
      },
    }),
  },
  'legacy-both-nothing': {
    breaks: '4.2: legacy_record both means everything',
    apply: (rules) => ({
      matching: (query, records, raw) => {
        const faithful = rules.matching(query, records, raw);
        const both = raw.lists.get('legacy_record')?.includes('both');
        return both ? { ...faithful, tests: [() => false] } : faithful;
      },
    }),
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
      find: (id, records) => rules.find(id, records) ?? records.slotOfPart(id),
    }),
  },
  'unknown-record-200': {
    breaks: '4.3: an unknown id gives 404',
    apply: () => ({ notFound: { status: 200, body: null } }),
  },
  'results-empty': {
    breaks: '2.3, rule 2: an assessment without parts has one entry',
    apply: (rules) => ({
      record: (assessment) =>
        rules.record({
          ...assessment,
          results: assessment.results.filter(
            ({ assessment_id }) => assessment_id !== assessment.id,
          ),
        }),
    }),
  },
  'self-entry-other-id': {
    breaks: '2.3, rule 2: the single entry carries the id of the record',
    apply: (rules) => ({
      record: (assessment) =>
        rules.record({
          ...assessment,
          results: assessment.results.map((part) =>
            part.assessment_id === assessment.id
              ? { ...part, assessment_id: part.assessment_id + 1_000_000 }
              : part,
          ),
        }),
    }),
  },
  'date-with-time': {
    breaks: '2.2: certified_on is written YYYY-MM-DD',
    apply: (rules) => ({
      record: (assessment) =>
        rules.record({ ...assessment, certified_on: `${assessment.certified_on}T00:00:00Z` }),
    }),
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
