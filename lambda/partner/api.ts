import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { firstDay } from '../decisions/days.ts';
import { noteAltered } from '../decisions/fingerprint.ts';
import { believed, type HostNumber, hostNumbers } from '../decisions/host-numbers.ts';
import type { QuarantinedRecord } from '../decisions/partner-reads.ts';
import { inEnglish, problemsOf } from '../english.ts';
import { type Assessment, assessmentSchema, resultPartSchema } from '../events/assessment.ts';
import { asNumber, itself, jsonText, parseExactly, WrittenNumber } from '../json-text.ts';
import { PartnerError, type RequestKind } from './errors.ts';

export interface HttpReply {
  readonly status: number;
  /** By name in lower case; repeated ones are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty if the body of a failure was too large or broke off: only the status counts then. */
  readonly body: Buffer;
  /** The wait that a failure asks for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

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

/** A record that cannot be announced: it has no usable `id` or no valid `certified_on`. */
export interface Quarantined extends QuarantinedRecord {
  /** Place in the response's `data`, from 0. */
  readonly index: number;
  /** A row before has the same content, so this one stands in the place of another record. */
  readonly isCopy?: true;
}

/** One response of the list, in the server's order. */
export interface Page {
  /**
   * The records with a usable ID and a valid day, even if other fields are odd. A host may show one
   * ID twice.
   */
  readonly assessments: readonly Assessment[];
  readonly quarantined: readonly Quarantined[];
  /**
   * Places of rows that equal another one, from 0. A copy may stand in the place of another record.
   */
  readonly copies?: readonly number[];
  /**
   * It was read in pieces, so it is several answers: a row that moved between them may be on none.
   * `differ`: their counts do.
   */
  readonly pieces?: 'agree' | 'differ';
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

/** All fields that the document does not name: a name may say anything. */
const undocumented = '(undocumented)';

/** These three are read in another way. */
const { id: _, certified_on: __, results: ___, ...contents } = assessmentSchema.shape;

/** How a documented text is read. By the first rules, a value of another type was null. */
type TextReader = (value: unknown) => unknown;

/** An integer becomes its digits and a boolean its word, without a loss. */
function asText(value: unknown): unknown {
  if (typeof value === 'boolean') return String(value);
  const number = typeof value === 'number' ? String(value) : '';
  const digits = value instanceof WrittenNumber ? value.digits : number;
  return /^-?\d+$/.test(digits) ? digits : value;
}

/**
 * The fields as the contract has them. Null and absent stay as they came. Null takes the place of a
 * value that cannot be carried without a loss, or exceeds the limits.
 *
 * @param documented all documented names
 * @param fields those that are read here
 * @param note takes the paths of values that are not as they came
 * @returns undefined for a value without fields
 */
function fitted(
  row: unknown,
  documented: z.core.$ZodShape,
  fields: z.core.$ZodShape,
  read: TextReader,
  note: (path: string) => void,
): Map<string, unknown> | undefined {
  const isBare = typeof row !== 'object' || Array.isArray(row) || row instanceof WrittenNumber;
  if (isBare || row === null) return undefined;
  const given = new Map<string, unknown>(Object.entries(row));
  for (const [name, value] of given) {
    if (Object.hasOwn(documented, name) || roomAfter(value) >= 0) continue;
    given.set(name, null);
    note(undocumented);
  }
  for (const [name, schema] of Object.entries(fields)) {
    const came = given.get(name);
    const kept = carried(schema, came, read);
    if (kept !== asNumber(came)) note(name);
    if (kept !== came) given.set(name, kept);
  }
  return given;
}

/** @returns null for a value that the field cannot carry without a loss */
function carried(schema: z.core.$ZodType, came: unknown, read: TextReader): unknown {
  const value = asNumber(came);
  if (z.safeParse(schema, value).success) return value;
  const text = read(came);
  return z.safeParse(schema, text).success ? text : null;
}

function fittedRecord(row: unknown, read: TextReader, note: (path: string) => void): unknown {
  const given = fitted(row, assessmentSchema.shape, contents, read, note);
  if (given === undefined) return row;
  const parts = given.get('results') ?? undefined;
  if (Array.isArray(parts) && parts.length <= MAX_PARTS) {
    const { shape } = resultPartSchema;
    const noteOfPart = (path: string) => note(`results[].${path}`);
    // A value that is no part becomes a part without fields.
    given.set(
      'results',
      parts.map((part) => Object.fromEntries(fitted(part, shape, shape, read, noteOfPart) ?? [])),
    );
  } else if (parts !== undefined) {
    note('results');
    given.set('results', null);
  }
  given.set('id', asNumber(given.get('id')));
  return Object.fromEntries(given);
}

/** Strict about identity, tolerant of content: an id and a valid day make a record. */
const recordSchema = itself(
  assessmentSchema.check(
    z.refine(({ certified_on }) => certified_on >= firstDay, {
      path: ['certified_on'],
      error: 'before the year 1',
    }),
  ),
);

function parseRecord(row: unknown) {
  const paths = new Set<string>();
  const fit = fittedRecord(row, asText, (path) => paths.add(path));
  const parsed = recordSchema.safeParse(fit, inEnglish);
  if (parsed.success && paths.size > 0) {
    const asItIs = (value: unknown) => value;
    const { data: first = parsed.data } = recordSchema.safeParse(
      fittedRecord(row, asItIs, () => undefined),
    );
    noteAltered(parsed.data, { paths: [...paths], first });
  }
  return { fit, ...parsed };
}

const identifiedSchema = z.object({ id: assessmentSchema.shape.id });

const counted = z.pipe(z.transform(asNumber), z.int().check(z.nonnegative()));

const pageSchema = z.object({
  // Not z.array: it would visit each of a few million elements before it counts them.
  data: z.custom<readonly unknown[]>(
    (value) => Array.isArray(value) && value.length <= MAX_PAGE_SIZE,
    `not an array of at most ${MAX_PAGE_SIZE}`,
  ),
  meta: z.object({
    count: z.pipe(counted, z.number().check(z.maximum(MAX_COUNT))),
    offset: counted,
    page: counted,
  }),
});

/**
 * A hundred records with forty parts each. The cost of `JSON.parse` and of validation depends on
 * the number of values, not of bytes. Four megabytes of one-letter keys held the event loop for
 * more than a second, four megabytes of text for a few milliseconds.
 */
const MAX_BODY_VALUES = 25_000;

/** Far more than the error of a token request has. */
const MAX_ERROR_BYTES = 16_384;

/**
 * Parses the body of a success as JSON.
 *
 * The errors have no cause: the parser's own error quotes the text that it could not read.
 *
 * @param parse `parseExactly` where values are passed on
 * @throws {PartnerError} `unexpected-response`, `response-too-large`
 */
export function parseBody(
  kind: RequestKind,
  reply: HttpReply,
  parse: (text: string) => unknown = JSON.parse,
): unknown {
  try {
    const text = utf8.decode(reply.body);
    // Every value but the first follows a comma or an opening bracket; those in strings count too.
    if (text.split(/[,[{]/, MAX_BODY_VALUES + 1).length > MAX_BODY_VALUES)
      throw new PartnerError('response-too-large', kind, 'values');
    return parse(text);
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
  const envelope = pageSchema.safeParse(parseBody('list', reply, parseExactly), inEnglish);
  if (!envelope.success)
    throw new PartnerError('unexpected-response', 'list', problemsOf(envelope.error));
  const { data, meta } = envelope.data;
  if (meta.offset !== offset)
    throw new PartnerError('unexpected-response', 'list', 'meta.offset: not the one asked for');

  const assessments: Assessment[] = [];
  const quarantined: Quarantined[] = [];
  const copies: number[] = [];
  for (const [index, row] of data.entries()) {
    const { fit, data: record, error } = parseRecord(row);
    if (error !== undefined) {
      const { data: identified } = identifiedSchema.safeParse(fit);
      const isCopy = data.findIndex((one) => isDeepStrictEqual(one, row)) < index;
      const copy = isCopy && ({ isCopy } as const);
      quarantined.push({ index, ...identified, ...copy, problems: problemsOf(error) });
    } else if (assessments.some((one) => one.id === record.id && isDeepStrictEqual(one, record))) {
      copies.push(index);
    } else {
      assessments.push(record);
    }
  }
  return {
    assessments,
    quarantined,
    ...(copies.length > 0 && { copies }),
    meta,
    rows: data.length,
  };
}

/**
 * @param id the one that was asked for
 * @throws {PartnerError} `malformed-record` if it is not a record, or another one
 */
export function readRecord(reply: HttpReply, id: number): Assessment {
  const { data: record, error } = parseRecord(parseBody('get', reply, parseExactly));
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
 * @param path of the request: the host may refuse its filter
 */
export function toRefusal(kind: RequestKind, reply: HttpReply, path: string): PartnerError {
  const { status, retryAfterMs } = reply;
  const what = `status ${status}`;
  if (status < 400) return new PartnerError('redirect-refused', kind, what);
  if (status === 429) return new PartnerError('rate-limited', kind, what, { retryAfterMs });
  // 501: the server does not know how to do it, and will not know in a minute.
  if (status === 408 || (status >= 500 && status !== 501))
    return new PartnerError('unavailable', kind, what, { retryAfterMs });
  if (kind === 'token' && isCredentialRefusal(reply))
    return new PartnerError('credentials-refused', kind);
  if (status === 400 && kind === 'token' && errorCode(reply) === 'unsupported_grant_type')
    return new PartnerError('unsupported-grant', kind, what);
  if (status === 400 && kind === 'list' && !/filter|offset/.test(path))
    return new PartnerError('not-provisioned', kind, what);
  return new PartnerError('request-refused', kind, what);
}

/** 401 is documented; RFC 6749 (5.2) lets a server say the same with 400. */
function isCredentialRefusal(reply: HttpReply): boolean {
  return reply.status === 401 || (reply.status === 400 && errorCode(reply) === 'invalid_client');
}

const errorSchema = z.pipe(jsonText, z.looseObject({ error: z.string() }));

/** The body's `error`, if it is short and has the form `{error: <code>}`: a proxy may answer in HTML. */
function errorCode({ body }: HttpReply): string | undefined {
  return errorSchema.safeParse(body.toString('utf8', 0, MAX_ERROR_BYTES)).data?.error;
}

/**
 * The wait that a `Retry-After` header asks for (RFC 9110, 10.2.3). A date is held against the
 * server's own `Date` header where there is one, so that a difference between the clocks neither
 * shortens nor lengthens the wait. A date that has just passed asks for no wait.
 *
 * @returns the wait in milliseconds, if it is believed; and the headers that are not
 */
export function parseRetryAfter(
  { 'retry-after': asked, date }: HttpReply['headers'],
  nowMs: number,
): { readonly retryAfterMs?: number | undefined; readonly odd: readonly HostNumber[] } {
  if (asked === undefined) return { odd: [] };
  const isNumber = /^\s*\d+\s*$/.test(asked);
  const until = isNumber ? Number(asked) : secondsUntil(asked, nowMs);
  // The host's clock matters only beside a date.
  const isByDate = date !== undefined && !isNumber && !Number.isNaN(until);
  const ahead = isByDate ? believed('Date', secondsUntil(date, nowMs)) : 0;
  const wait = until - (ahead ?? 0);
  const isJustOver = wait < 0 && wait >= -hostNumbers['Retry-After'].most;
  const seconds = believed('Retry-After', isJustOver ? 0 : wait);
  const odd: HostNumber[] = ahead === undefined ? ['Date'] : [];
  if (seconds === undefined) odd.push('Retry-After');
  return { retryAfterMs: seconds && seconds * 1_000, odd };
}

/** Temporal does not read these forms (RFC 9110, 5.6.7; not asctime's); `Date.parse` reads far too many others. */
function secondsUntil(httpDate: string, nowMs: number): number {
  return ((httpDate.endsWith('GMT') ? Date.parse(httpDate) : Number.NaN) - nowMs) / 1_000;
}
