import { setImmediate as nextTurn } from 'node:timers/promises';
import * as z from 'zod/mini';
import type { Clock } from '../clock.ts';
import { inEnglish } from '../english.ts';
import { type Assessment, assessmentSchema } from '../events/assessment.ts';
import {
  MalformedRecordError,
  type RequestKind,
  ResponseTooLargeError,
  UnexpectedResponseError,
} from './errors.ts';
import { MAX_PAGE_SIZE } from './query.ts';
import type { HttpReply } from './transport.ts';

/** A record that cannot be announced: it has no usable `id`, no valid `certified_on`, or the id of another row. */
export interface Quarantined {
  /** Place in the response's `data`, from 0. */
  readonly index: number;
  /** Present if at least the ID can be trusted. */
  readonly id?: number;
  /** Paths and what is wrong with them; never a value. */
  readonly problems: readonly string[];
}

/** One response of the list, in the server's order. */
export interface Page {
  /** The records with a usable ID and a valid day, whatever is odd about their other fields. No ID appears twice. */
  readonly assessments: readonly Assessment[];
  readonly quarantined: readonly Quarantined[];
  /** As the server sent it (partner-api.md, 2.4); `offset` is always the one that was asked for. */
  readonly meta: { readonly count: number; readonly offset: number; readonly page: number };
  /** How many records the response held, quarantined ones included. */
  readonly rows: number;
}

/**
 * Limits of a field, and of all fields together that the document does not name; far above any that it describes.
 * What exceeds them is not passed on: one record cannot then make thousands of findings, nor be so deep that
 * whatever walks over it later (`JSON.stringify`, a fingerprint) runs out of stack, which `JSON.parse` does not.
 */
const MAX_PARTS = 100;
const MAX_VALUES = 5_000;
const MAX_DEPTH = 32;

const MAX_PROBLEMS = 10;

/**
 * A page full of malformed records is slow to describe; other calls get their turn in between. Measured by
 * the injected clock: if that is set back meanwhile, the rest of this one page is read in one turn.
 */
const TURN_MS = 20;

const pageSchema = z.looseObject({
  // Not z.array: it would visit each of a few million elements before it counts them.
  data: z.custom<readonly unknown[]>(
    (value) => Array.isArray(value) && value.length <= MAX_PAGE_SIZE,
    `not an array of at most ${MAX_PAGE_SIZE}`,
  ),
  meta: z.looseObject({
    count: z.int().check(z.nonnegative()),
    offset: z.int().check(z.nonnegative()),
    page: z.int().check(z.nonnegative()),
  }),
});

const identifiedSchema = z.object({ id: assessmentSchema.shape.id });

/**
 * A hundred records with forty parts each. What `JSON.parse` and validation cost depends on the
 * number of values, not of bytes: four megabytes of one-letter keys held the event loop for more
 * than a second, four megabytes of text for a few milliseconds.
 */
const MAX_BODY_VALUES = 25_000;

/**
 * The body of a success, as JSON.
 *
 * The errors have no cause: the parser's own quotes what it could not read.
 *
 * @throws {UnexpectedResponseError}
 * @throws {ResponseTooLargeError}
 */
export function parseBody(kind: RequestKind, reply: HttpReply): unknown {
  const encoding = reply.header('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new UnexpectedResponseError(kind, ['compressed, although identity was asked for']);
  }
  if (mayHoldMoreThan(MAX_BODY_VALUES, reply.body)) {
    throw new ResponseTooLargeError(kind, `${MAX_BODY_VALUES} values`);
  }
  let text: string;
  try {
    text = utf8.decode(reply.body);
  } catch {
    throw new UnexpectedResponseError(kind, ['not UTF-8']);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new UnexpectedResponseError(kind, ['not JSON']);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Every value but the first follows a comma or an opening bracket; those in strings count too. */
function mayHoldMoreThan(limit: number, bytes: Buffer): boolean {
  const [comma, bracket, brace] = [0x2c, 0x5b, 0x7b];
  let values = 1;
  // By index: an iterator takes several times as long, of every answer.
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte !== comma && byte !== bracket && byte !== brace) continue;
    values += 1;
    if (values > limit) return true;
  }
  return false;
}

/** What a page is made of: its answer, and the offset that was asked for. */
export type ReadPage = (reply: HttpReply, offset: number, clock: Clock) => Promise<Page>;

/** @throws {UnexpectedResponseError} or {ResponseTooLargeError} */
export const readPage: ReadPage = async (reply, offset, clock) =>
  await parsePage(parseBody('list', reply), offset, clock);

/**
 * @param offset what was asked for
 * @throws {UnexpectedResponseError} if it is not a page, or the page of another offset
 */
export async function parsePage(body: unknown, offset: number, clock: Clock): Promise<Page> {
  const envelope = pageSchema.safeParse(body, inEnglish);
  if (!envelope.success) throw new UnexpectedResponseError('list', problemsOf(envelope.error));
  const { data, meta } = envelope.data;
  if (meta.offset !== offset) {
    throw new UnexpectedResponseError('list', ['meta.offset: not the offset that was asked for']);
  }

  const assessments: Assessment[] = [];
  const quarantined: Quarantined[] = [];
  const indexOfId = new Map<number, number>();
  let turnStartedAt = clock.now().epochMilliseconds;
  for (const [index, row] of data.entries()) {
    if (clock.now().epochMilliseconds - turnStartedAt > TURN_MS) {
      await nextTurn();
      turnStartedAt = clock.now().epochMilliseconds;
    }
    const parsed = parseRow(row);
    const first = parsed.id === undefined ? undefined : indexOfId.get(parsed.id);
    if ('problems' in parsed) {
      quarantined.push({ index, ...parsed });
    } else if (first === undefined) {
      indexOfId.set(parsed.id, index);
      assessments.push(parsed.assessment);
    } else {
      quarantined.push({ index, id: parsed.id, problems: [`id: the same as in row ${first}`] });
    }
  }
  const { count, page } = meta;
  return { assessments, quarantined, meta: { count, offset, page }, rows: data.length };
}

/**
 * @param id what was asked for
 * @throws {MalformedRecordError} if it is not a record, or another one
 */
export function readRecord(reply: HttpReply, id: number): Assessment {
  const parsed = parseRow(parseBody('get', reply));
  if ('problems' in parsed) throw new MalformedRecordError(id, parsed.problems);
  if (parsed.id !== id) throw new MalformedRecordError(id, ['id: not the one that was asked for']);
  return parsed.assessment;
}

type Row =
  | { readonly id: number; readonly assessment: Assessment }
  | { readonly id?: number; readonly problems: readonly string[] };

/**
 * Strict about identity, tolerant of content: an id and a valid day make a record. Another field passes as it came
 * (null and absent are in the contract), save that null stands for a value of another type.
 */
function parseRow(row: unknown): Row {
  const bounded = isRecord(row) ? withinLimits(row) : row;
  const asItCame = assessmentSchema.safeParse(bounded, inEnglish);
  if (asItCame.success) return { id: asItCame.data.id, assessment: asItCame.data };
  const { issues } = asItCame.error;
  const typed = isRecord(bounded) ? withNulls(bounded, issues) : bounded;
  const parsed = assessmentSchema.safeParse(typed, inEnglish);
  if (parsed.success) return { id: parsed.data.id, assessment: parsed.data };
  const { data: identified } = identifiedSchema.safeParse(row);
  return { ...identified, problems: problemsOf(parsed.error) };
}

type Fields = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Null in the place of each value that breaks the schema, and a part without fields for what is no part. */
function withNulls(row: Fields, issues: readonly z.core.$ZodIssue[]): Fields {
  const fields: Record<string, unknown> = { ...row };
  const parts: unknown[] = Array.isArray(row.results) ? [...row.results] : [];
  for (const { path } of issues) {
    const [field, index, fieldOfPart] = path;
    if (typeof field !== 'string' || field === 'id' || field === 'certified_on') continue;
    if (typeof index !== 'number') {
      fields[field] = null;
      continue;
    }
    const part = parts[index];
    const isField = typeof fieldOfPart === 'string' && isRecord(part);
    parts[index] = isField ? { ...part, [fieldOfPart]: null } : {};
    fields.results = parts;
  }
  return fields;
}

/** Without the values that are too deep or too large. */
function withinLimits(row: Fields): Fields {
  const isLong = (value: unknown) => Array.isArray(value) && value.length > MAX_PARTS;
  if (!isLong(row.results) && roomAfter(row) >= 0) return row;
  const others: Record<string, unknown> = {};
  const documented: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(row)) {
    if (!(field in assessmentSchema.shape)) others[field] = value;
    else documented[field] = isLong(value) || roomAfter(value) < 0 ? null : value;
  }
  return roomAfter(others) < 0 ? documented : { ...documented, ...others };
}

/** For how many values more there is room after these; below 0 if they are too many or too deep. */
function roomAfter(value: unknown, room = MAX_VALUES, depth = 0): number {
  if (depth > MAX_DEPTH) return -1;
  let left = room - 1;
  if (typeof value !== 'object' || value === null) return left;
  for (const inner of Object.values(value)) {
    if (left < 0) return left;
    left = roomAfter(inner, left, depth + 1);
  }
  return left;
}

/** Zod's own messages name types and bounds, never what was received in their place. */
export function problemsOf(error: z.core.$ZodError): string[] {
  const problems = error.issues
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message));
  const more = error.issues.length - problems.length;
  return more > 0 ? [...problems, `and ${more} more`] : problems;
}
