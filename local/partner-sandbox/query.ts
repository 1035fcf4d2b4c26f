import { parseDay } from './zone-days.ts';

/** A query string as Rack reads it: the last of equal scalars counts, and bracketed keys collect. */
export interface RawQuery {
  readonly page: string | undefined;
  readonly offset: string | undefined;
  readonly sort: string | undefined;
  readonly order: string | undefined;
  /** `filter[name]=value` */
  readonly scalars: ReadonlyMap<string, string>;
  /** `filter[name][]=value`, repeated */
  readonly lists: ReadonlyMap<string, readonly string[]>;
}

export function readRawQuery(params: URLSearchParams): RawQuery {
  const top = new Map<string, string>();
  const scalars = new Map<string, string>();
  const lists = new Map<string, string[]>();
  for (const [key, value] of params) {
    const [, name, brackets] = /^filter\[([^[\]]+)\](\[\])?$/.exec(key) ?? [];
    if (name === undefined) top.set(key, value);
    else if (brackets === undefined) scalars.set(name, value);
    else lists.set(name, [...(lists.get(name) ?? []), value]);
  }
  return {
    page: top.get('page'),
    offset: top.get('offset'),
    sort: top.get('sort'),
    order: top.get('order'),
    scalars,
    lists,
  };
}

export const sorts = ['certified_on', 'user_name', 'proctor_name', 'product_name'] as const;
export type Sort = (typeof sorts)[number];

/** A parsed list request. An absent filter is undefined and matches everything. */
export interface ParsedQuery {
  readonly search: string | undefined;
  /** `YYYY-MM-DD` */
  readonly first: string | undefined;
  readonly last: string | undefined;
  readonly productIds: ReadonlySet<number> | undefined;
  readonly userIds: ReadonlySet<number> | undefined;
  readonly seids: ReadonlySet<string> | undefined;
  readonly proctorIds: ReadonlySet<number> | undefined;
  readonly organizationIds: ReadonlySet<number> | undefined;
  readonly statuses: ReadonlySet<string> | undefined;
  readonly legacy: ReadonlySet<boolean> | undefined;
  readonly sort: Sort;
  readonly descending: boolean;
  /** The number of rows in the answer. */
  readonly page: number;
  readonly offset: number;
}

/** Section 8. */
export interface Limits {
  readonly maximumPage: number;
  readonly defaultPage: number;
}

/** `String#to_i`: leading digits count, and any other text is 0. */
function toInteger(text: string): number {
  const digits = /^\s*([+-]?\d+)/.exec(text)?.[1];
  const value = digits === undefined ? 0 : Number(digits);
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value));
}

const falseValues: ReadonlySet<string> = new Set(['false', 'f', '0', 'off', 'no']);

/** @returns undefined for `both`, which restricts nothing. */
function readLegacy(values: ReadonlySet<string>): ReadonlySet<boolean> | undefined {
  const flags = new Set<boolean>();
  for (const value of values) {
    const word = value.trim().toLowerCase();
    if (word === 'both') return undefined;
    flags.add(!falseValues.has(word));
  }
  return flags;
}

export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/**
 * Section 4.2. Never fails. The document is silent about these, and a typical Rails application does so:
 *
 * - `page` below 1 or no number: the default. `offset` below 0 or no number: 0. Leading digits count: `3rd` is 3.
 * - A date that is none, or not `YYYY-MM-DD`, is dropped like a blank one.
 * - An integer that is none is 0, which matches nothing. Leading digits count.
 * - `legacy_record`: `f`, `0`, `no` and `off` are false, any other word but `both` is true.
 * - An unknown `user_record_status` matches nothing.
 * - An array without `[]`, and a scalar with it, are ignored. Of the same scalar twice the last counts.
 * - `search` ignores blanks around it. `%` and `_` are ordinary. Each of two words may be a part of its name.
 * - `seids` are exact, with upper and lower case. `proctor_ids` look at every entry of `results`.
 */
export function readListQuery(raw: RawQuery, limits: Limits): ParsedQuery {
  const scalar = (name: string): string | undefined => {
    const value = raw.scalars.get(name)?.trim();
    return value === '' ? undefined : value;
  };
  const list = (name: string): ReadonlySet<string> | undefined => {
    const values = (raw.lists.get(name) ?? []).filter((value) => !isBlank(value));
    return values.length === 0 ? undefined : new Set(values);
  };
  const integers = (name: string): ReadonlySet<number> | undefined => {
    const values = list(name);
    return values && new Set(Array.from(values, toInteger));
  };
  const day = (name: string): string | undefined => {
    const value = scalar(name) ?? '';
    return parseDay(value) === undefined ? undefined : value;
  };
  const legacy = list('legacy_record');
  const page = toInteger(raw.page ?? '');
  return {
    search: scalar('search'),
    first: day('start_date'),
    last: day('end_date'),
    productIds: integers('product_ids'),
    userIds: integers('user_ids'),
    seids: list('seids'),
    proctorIds: integers('proctor_ids'),
    organizationIds: integers('organization_ids'),
    statuses: list('user_record_status'),
    legacy: legacy && readLegacy(legacy),
    sort: sorts.find((known) => known === raw.sort) ?? 'certified_on',
    descending: raw.order?.toUpperCase() === 'DESC',
    page: page < 1 ? limits.defaultPage : Math.min(page, limits.maximumPage),
    offset: Math.max(0, toInteger(raw.offset ?? '')),
  };
}
