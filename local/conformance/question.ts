import * as z from 'zod';
import type { HttpRequest } from '../../lambda/partner/transport.ts';
import { type DocumentedRecord, documentedRecordSchema } from '../documented-record.ts';
import type { HttpAnswer } from './host.ts';
import { list, type Params } from './requests.ts';
import { type CheckVerdict, cannotTell, mismatch } from './verdict.ts';

/** A request, and the judgement of its answer. It keeps nothing, so it can be asked again. */
export interface Question {
  /** Without headers, it is sent with the token of the run. */
  readonly request: HttpRequest;
  /** Not to be answered from memory. */
  readonly isAfresh?: true;
  readonly judge: (answer: HttpAnswer) => Next;
}

/** A verdict, a question, or several of which the first trouble counts. */
export type Next = CheckVerdict | Question | readonly Next[];

/** Each is named by the statement of the document, as it is true of a conforming host. */
export type Checks = Readonly<Record<string, Next>>;

/** A section of docs/partner.md. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly checks: Checks;
}

/** A page, checked only as far as reading it requires. */
export interface ListPage {
  readonly rows: readonly unknown[];
  /** The rows that have the documented shape, in the server's order. */
  readonly records: readonly DocumentedRecord[];
  readonly count: number;
  readonly offset: number;
  readonly page: number;
}

/** The pages with which most checks begin. */
export interface Seen {
  /** From the middle of the list, from its new end and from its beginning. */
  readonly pages: readonly ListPage[];
  /** Without parameters: the document's defaults. */
  readonly first: ListPage;
  /** From the middle of the list on, oldest first. */
  readonly middle: ListPage;
  /** Of all pages, each ID once. */
  readonly records: readonly DocumentedRecord[];
}

export function ask(request: HttpRequest, judge: Question['judge']): Question {
  return { request, judge };
}

export const askAgain = (question: Question): Question => ({ ...question, isAfresh: true });

const pageSchema = z.object({
  data: z.array(z.unknown()),
  meta: z.object({ count: z.int(), offset: z.int(), page: z.int() }),
});

function toPage({ status, body }: HttpAnswer): ListPage | CheckVerdict {
  if (status !== 200) return mismatch('status 200', `status ${status}`);
  const { data } = pageSchema.safeParse(body);
  if (data === undefined) return cannotTell('an answer of the list could not be read');
  const records = data.data.flatMap((row) => documentedRecordSchema.safeParse(row).data ?? []);
  return { rows: data.data, records, ...data.meta };
}

export const page = (params: Params, judge: (page: ListPage) => Next): Question =>
  ask(list(params), (answer) => {
    const page = toPage(answer);
    return 'verdict' in page ? page : judge(page);
  });

/** The number of matching records; without parameters, of all. */
export const count = (params: Params, judge: (count: number) => Next): Question =>
  page({ page: '1', ...params }, ({ count }) => judge(count));

export const dayOf = ({ certified_on }: DocumentedRecord): string => certified_on;

export const newestFirst = { sort: 'certified_on', order: 'DESC', page: '100' } as const;
export const oldestFirst = { sort: 'certified_on', order: 'ASC', page: '100' } as const;

export const middleOf = ({ count }: ListPage): number => Math.floor(count / 2);

/** The page from the middle of the list on, oldest first. */
export const atMiddle = (judge: (middle: ListPage, first: ListPage) => Next): Question =>
  page({}, (first) =>
    page({ ...oldestFirst, offset: String(middleOf(first)) }, (middle) => judge(middle, first)),
  );

export const look = (judge: (seen: Seen) => Next): Question =>
  atMiddle((middle, first) =>
    ask(list(newestFirst), (answer) => {
      const newest = toPage(answer);
      // A host that refuses this order fails the checks of the order, and is judged by the other pages.
      const pages = 'verdict' in newest ? [middle, first] : [middle, newest, first];
      const byId = new Map(pages.flatMap(({ records }) => records.map((row) => [row.id, row])));
      return judge({ pages, first, middle, records: [...byId.values()] });
    }),
  );

/** @param why the verdict if the pages have nothing of the kind */
export const given = <T>(
  find: (seen: Seen) => T | undefined,
  why: string,
  judge: (found: T, seen: Seen) => Next,
): Question =>
  look((seen) => {
    const found = find(seen);
    return found === undefined ? cannotTell(why) : judge(found, seen);
  });
