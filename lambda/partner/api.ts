import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { believed, type HostNumber, hostNumbers } from '../detection/host-numbers.ts';
import { inEnglish, problemsOf } from '../english.ts';
import { type Assessment, assessmentSchema, resultPartSchema } from '../events/assessment.ts';
import type { QuarantinedRecord } from '../ports/partner-reader.ts';
import { PartnerError, type RequestKind } from './errors.ts';
import type { HttpReply } from './transport.ts';

/** The API reduces larger pages to this silently (docs/partner.md, 8); this client refuses them. */
export const MAX_PAGE_SIZE = 100;
/** The host's page size if none is asked for. */
export const DEFAULT_PAGE_SIZE = 50;

/** A hundred times more than any history; a larger `meta.count` is no number of assessments. */
const MAX_COUNT = 1_000_000_000;

export const SORT_KEYS = ['certified_on', 'user_name', 'proctor_name', 'product_name'] as const;

const listOf = <Value extends z.core.$ZodType>(value: Value) =>
  z.exactOptional(z.readonly(z.array(value)));

/** A date in the partner's time zone. */
const day = z.exactOptional(z.iso.date());

/**
 * Filters of the list, under the API's own names (docs/partner.md, 4.2). All combine with AND.
 *
 * A blank string and an empty array equal an omitted filter, as the document says: a list of IDs
 * that turns out to be empty selects everything, not nothing.
 */
const assessmentFilter = z.strictObject({
  /**
   * A part of an assessment's name, of a first or of a last name. Two words are also read as first
   * and last name.
   */
  search: z.exactOptional(z.string()),
  /** Completed on this day or later. */
  start_date: day,
  /** Completed on this day or earlier. */
  end_date: day,
  product_ids: listOf(z.int()),
  user_ids: listOf(z.int()),
  seids: listOf(z.string()),
  proctor_ids: listOf(z.int()),
  organization_ids: listOf(z.int()),
  user_record_status: listOf(z.enum(['active', 'archived'])),
  legacy_record: listOf(z.literal([true, false, 'both'])),
});

/**
 * The parameters of a list request (docs/partner.md, 4.2). Omitted ones have the API's defaults.
 *
 * The API takes an unknown value as the default, without an error. A typing mistake would give
 * another order than the one that a proven read relies on.
 */
const listQuery = z.strictObject({
  filter: z.exactOptional(assessmentFilter),
  sort: z.exactOptional(z.enum(SORT_KEYS)),
  order: z.exactOptional(z.enum(['ASC', 'DESC'])),
  /** Page size. */
  page: z.exactOptional(z.int().check(z.positive(), z.maximum(MAX_PAGE_SIZE))),
  /** Records to skip. */
  offset: z.exactOptional(z.int().check(z.nonnegative())),
});

export type AssessmentFilter = Readonly<z.input<typeof assessmentFilter>>;
export type ListQuery = Readonly<z.input<typeof listQuery>>;

/**
 * The query string of a list request, without the question mark.
 *
 * @throws {PartnerError} `invalid-call`, naming every parameter that the API would refuse, cut or misread.
 */
export function toSearchParams(query: ListQuery): URLSearchParams {
  const { data, error } = listQuery.safeParse(query, inEnglish);
  if (error !== undefined) throw new PartnerError('invalid-call', 'list', problemsOf(error));
  const { filter = {}, ...listing } = data;
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    const parameter = Array.isArray(value) ? `filter[${name}][]` : `filter[${name}]`;
    for (const one of [value].flat()) params.append(parameter, String(one));
  }
  for (const [name, value] of Object.entries(listing)) params.append(name, String(value));
  return params;
}

/** A record that cannot be announced: it has no usable `id`, no valid `certified_on`, or the id of another row. */
export interface Quarantined extends QuarantinedRecord {
  /** Place in the response's `data`, from 0. */
  readonly index: number;
}

/** One response of the list, in the server's order. */
export interface Page {
  /**
   * The records with a usable ID and a valid day, even if other fields are odd. No ID appears
   * twice.
   */
  readonly assessments: readonly Assessment[];
  readonly quarantined: readonly Quarantined[];
  /** As the server sent it (docs/partner.md, 2.4); `offset` is always the one that was asked for. */
  readonly meta: { readonly count: number; readonly offset: number; readonly page: number };
  /** How many records the response held, quarantined ones included. */
  readonly rows: number;
}

/**
 * Limits of a field, far above any that the document describes. Null takes the place of a value
 * that exceeds them. So one record cannot make thousands of findings. Nor can it be so deep that a
 * later walk over it (`JSON.stringify`, a fingerprint) runs out of stack, which `JSON.parse` does
 * not.
 */
const MAX_PARTS = 100;
const MAX_VALUES = 5_000;
const MAX_DEPTH = 32;

const undocumented = z.catch(z.unknown().check(z.refine((value) => roomAfter(value) >= 0)), null);

/**
 * The same fields, and others as they come. Null takes the place of a value that breaks its schema
 * or the limits.
 */
const tolerant = (fields: z.core.$ZodShape) => {
  const pairs = Object.entries(fields).map(([name, field]) => [name, z.catch(field, null)]);
  return z.catchall(z.object(Object.fromEntries(pairs)), undocumented);
};

/** A value that is no part becomes a part without fields. */
const tolerantPart = z.catch(tolerant(resultPartSchema.shape), {});

/**
 * Strict about identity, tolerant of content: an id and a valid day make a record. Any other field
 * passes as it came; null and absent are in the contract. Null takes the place of a value of
 * another type, or beyond the limits.
 */
const recordSchema = z.pipe(
  z.extend(tolerant(assessmentSchema.shape), {
    id: assessmentSchema.shape.id,
    certified_on: assessmentSchema.shape.certified_on,
    results: z.catch(z.nullish(z.array(tolerantPart).check(z.maxLength(MAX_PARTS))), null),
  }),
  assessmentSchema,
);

const identifiedSchema = z.object({ id: assessmentSchema.shape.id });

const pageSchema = z.object({
  // Not z.array: it would visit each of a few million elements before it counts them.
  data: z.custom<readonly unknown[]>(
    (value) => Array.isArray(value) && value.length <= MAX_PAGE_SIZE,
    `not an array of at most ${MAX_PAGE_SIZE}`,
  ),
  meta: z.object({
    count: z.int().check(z.nonnegative(), z.maximum(MAX_COUNT)),
    offset: z.int().check(z.nonnegative()),
    page: z.int().check(z.nonnegative()),
  }),
});

/**
 * A hundred records with forty parts each. The cost of `JSON.parse` and of validation depends on
 * the number of values, not of bytes. Four megabytes of one-letter keys held the event loop for
 * more than a second, four megabytes of text for a few milliseconds.
 */
const MAX_BODY_VALUES = 25_000;

/**
 * Parses the body of a success as JSON.
 *
 * The errors have no cause: the parser's own error quotes the text that it could not read.
 *
 * @throws {PartnerError} `unexpected-response`, `response-too-large`
 */
export function parseBody(kind: RequestKind, reply: HttpReply): unknown {
  try {
    const text = utf8.decode(reply.body);
    // Every value but the first follows a comma or an opening bracket; those in strings count too.
    if (text.split(/[,[{]/, MAX_BODY_VALUES + 1).length > MAX_BODY_VALUES)
      throw new PartnerError('response-too-large', kind, 'values');
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof PartnerError) throw error;
    const { 'content-encoding': coding = 'identity' } = reply.headers;
    const what = coding === 'identity' ? 'not JSON in UTF-8' : 'compressed, though not asked for';
    throw new PartnerError('unexpected-response', kind, what);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * @param offset the one that was asked for
 * @throws {PartnerError} `unexpected-response` if it is not a page, or the page of another offset;
 * `response-too-large`
 */
export function parsePage(reply: HttpReply, offset: number): Page {
  const envelope = pageSchema.safeParse(parseBody('list', reply), inEnglish);
  if (!envelope.success)
    throw new PartnerError('unexpected-response', 'list', problemsOf(envelope.error));
  const { data, meta } = envelope.data;
  if (meta.offset !== offset)
    throw new PartnerError('unexpected-response', 'list', 'meta.offset: not the one asked for');

  const assessments = new Map<number, Assessment>();
  const quarantined: Quarantined[] = [];
  for (const [index, row] of data.entries()) {
    const { data: record, error } = recordSchema.safeParse(row, inEnglish);
    if (error !== undefined) {
      const { data: identified } = identifiedSchema.safeParse(row);
      quarantined.push({ index, ...identified, problems: problemsOf(error) });
    } else if (assessments.has(record.id)) {
      quarantined.push({ index, id: record.id, problems: ['id: the same as in a row before'] });
    } else {
      assessments.set(record.id, record);
    }
  }
  return { assessments: [...assessments.values()], quarantined, meta, rows: data.length };
}

/**
 * @param id the one that was asked for
 * @throws {PartnerError} `malformed-record` if it is not a record, or another one
 */
export function readRecord(reply: HttpReply, id: number): Assessment {
  const { data: record, error } = recordSchema.safeParse(parseBody('get', reply), inEnglish);
  if (record?.id === id) return record;
  const problems = error ? problemsOf(error) : ['id: not the one that was asked for'];
  throw new PartnerError('malformed-record', 'get', [`assessment ${id}`, ...problems]);
}

/** The room for more values after these; below 0 if they are too many or too deep. */
function roomAfter(value: unknown, room = MAX_VALUES, depth = 1): number {
  if (depth > MAX_DEPTH) return -1;
  let left = room - 1;
  if (typeof value !== 'object' || value === null) return left;
  for (const inner of Object.values(value)) {
    if (left < 0) return left;
    left = roomAfter(inner, left, depth + 1);
  }
  return left;
}

/**
 * The error for a status that is no success (docs/partner.md, 7, and statuses that it leaves open).
 *
 * @param path the path of the request: the host may refuse its filter
 */
export function toRefusal(
  kind: RequestKind,
  reply: HttpReply,
  now: Temporal.Instant,
  path?: string,
): PartnerError {
  const { status } = reply;
  const what = `status ${status}`;
  if (status < 400) return new PartnerError('redirect-refused', kind, what);
  const { retryAfterMs } = parseRetryAfter(reply.headers, now);
  if (status === 429) return new PartnerError('rate-limited', kind, what, { retryAfterMs });
  // 501: the server does not know how to do it, and will not know in a minute.
  if (status === 408 || (status >= 500 && status !== 501))
    return new PartnerError('unavailable', kind, what, { retryAfterMs });
  if (status === 400 && kind === 'token' && errorCode(reply) === 'unsupported_grant_type')
    return new PartnerError('unsupported-grant', kind, what);
  if (status === 400 && kind === 'list' && path !== undefined && !/filter|offset/.test(path))
    return new PartnerError('not-provisioned', kind, what);
  return new PartnerError('request-refused', kind, what);
}

const errorSchema = z.looseObject({ error: z.string() });

/** The body's `error`, if the body has the form `{error: <code>}`. */
export function errorCode(reply: HttpReply): string | undefined {
  try {
    return errorSchema.safeParse(parseBody('token', reply)).data?.error;
  } catch {
    // A failure may come from a proxy, in HTML: the status says enough then.
    return undefined;
  }
}

/** The wait that an answer asks for in milliseconds, if it does; and headers that are not believed. */
export interface AskedWait {
  readonly retryAfterMs?: number | undefined;
  readonly odd: readonly HostNumber[];
}

/**
 * The wait that a `Retry-After` header asks for (RFC 9110, 10.2.3). A date is held against the
 * server's own `Date` header where there is one, so that a difference between the clocks neither
 * shortens nor lengthens the wait. A date that has just passed asks for no wait.
 */
export function parseRetryAfter(
  { 'retry-after': asked, date }: HttpReply['headers'],
  now: Temporal.Instant,
): AskedWait {
  if (asked === undefined) return { odd: [] };
  const odd: HostNumber[] = [];
  const judged = (name: HostNumber, seconds: number) => {
    const known = believed(name, seconds);
    if (known === undefined) odd.push(name);
    return known;
  };
  const secondsFromNow = (text: string) => (parseHttpDate(text) - now.epochMilliseconds) / 1_000;
  if (/^\s*\d+\s*$/.test(asked)) {
    const seconds = judged('Retry-After', Number(asked));
    return { retryAfterMs: seconds && seconds * 1_000, odd };
  }
  const until = secondsFromNow(asked);
  // The host's clock matters only beside a date.
  const isByDate = date !== undefined && !Number.isNaN(until);
  const ahead = isByDate ? (judged('Date', secondsFromNow(date)) ?? 0) : 0;
  const wait = until - ahead;
  const isJustOver = wait < 0 && wait >= -hostNumbers['Retry-After'].most;
  const seconds = judged('Retry-After', isJustOver ? 0 : wait);
  return { retryAfterMs: seconds && seconds * 1_000, odd };
}

/** Temporal does not read these forms (RFC 9110, 5.6.7; not asctime's); `Date.parse` reads far too many others. */
function parseHttpDate(text: string): number {
  return text.endsWith('GMT') ? Date.parse(text) : Number.NaN;
}
