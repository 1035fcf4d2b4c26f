import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { problemsOf } from '../../lambda/english.ts';
import { type DocumentedRecord, documentedRecordSchema } from '../documented-record.ts';
import { UnusablePageError } from './errors.ts';
import type { Params, TestedHost } from './host.ts';
import type { HttpAnswer } from './http-answer.ts';

/** A page, checked only as far as reading it requires. */
export interface ListPage {
  readonly rows: readonly unknown[];
  /** The rows that have the documented shape, in the server's order. */
  readonly records: readonly DocumentedRecord[];
  readonly count: number;
  readonly offset: number;
  readonly page: number;
}

const pageSchema = z.looseObject({
  data: z.array(z.unknown()),
  meta: z.looseObject({ count: z.int(), offset: z.int(), page: z.int() }),
});

export const newestFirst = { sort: 'certified_on', order: 'DESC', page: '100' } as const;
export const oldestFirst = { sort: 'certified_on', order: 'ASC', page: '100' } as const;

/** Every record within the scope. */
const everything: Params = { page: '1' };

/**
 * Answers that the checks share, so that each question is asked only once. A check that is repeated, because the data
 * may have changed, gets new samples.
 */
export class Samples {
  readonly host: TestedHost;
  readonly #answers = new Map<string, Promise<HttpAnswer>>();
  readonly #pages = new Map<string, Promise<ListPage>>();

  constructor(host: TestedHost) {
    this.host = host;
  }

  /** Any answer of the list. */
  answer(params: Params): Promise<HttpAnswer> {
    return remember(this.#answers, params, () => this.host.list(params));
  }

  /** The answer of one record. */
  record(id: number): Promise<HttpAnswer> {
    return remember(this.#answers, id, () => this.host.record(id));
  }

  /** @throws {UnusablePageError} */
  page(params: Params): Promise<ListPage> {
    return remember(this.#pages, params, async () => toPage(await this.answer(params)));
  }

  /** A new answer, also if one is remembered. */
  async pageNow(params: Params): Promise<ListPage> {
    return toPage(await this.host.list(params));
  }

  /** Without parameters: the document's defaults. */
  first(): Promise<ListPage> {
    return this.page({});
  }

  newest(): Promise<ListPage> {
    return this.page(newestFirst);
  }

  async middleOffset(): Promise<number> {
    return Math.floor((await this.first()).count / 2);
  }

  /** The page from the middle of the list on, oldest first. */
  async middle(): Promise<ListPage> {
    return await this.page({ ...oldestFirst, offset: String(await this.middleOffset()) });
  }

  /** The number of matching records; without parameters, of all. */
  async count(params: Params = {}): Promise<number> {
    return (await this.page({ ...everything, ...params })).count;
  }

  async countNow(params: Params = {}): Promise<number> {
    return (await this.pageNow({ ...everything, ...params })).count;
  }

  async rows(): Promise<readonly unknown[]> {
    return (await this.#pagesOfAllKinds()).flatMap(({ rows }) => rows);
  }

  /** Well-formed records from the beginning, the middle and the end; each ID once. */
  async records(): Promise<readonly DocumentedRecord[]> {
    const all = (await this.#pagesOfAllKinds()).flatMap(({ records }) => records);
    return [...new Map(all.map((record) => [record.id, record])).values()];
  }

  async #pagesOfAllKinds(): Promise<readonly ListPage[]> {
    return [await this.middle(), await this.newest(), await this.first()];
  }
}

function remember<T>(
  known: Map<string, Promise<T>>,
  question: Params | number,
  ask: () => Promise<T>,
): Promise<T> {
  const key = JSON.stringify(question);
  let answer = known.get(key);
  if (answer === undefined) {
    answer = ask();
    known.set(key, answer);
    // A request that failed once may succeed when the next check asks.
    answer.catch(() => known.delete(key));
  }
  return answer;
}

/** @throws {UnusablePageError} */
function toPage({ status, body }: HttpAnswer): ListPage {
  if (status !== 200) throw new UnusablePageError(status);
  const parsed = pageSchema.safeParse(body);
  if (!parsed.success) throw new UnusablePageError(status, problemsOf(parsed.error));
  const { data, meta } = parsed.data;
  const records = data.flatMap((row) => documentedRecordSchema.safeParse(row).data ?? []);
  return { rows: data, records, count: meta.count, offset: meta.offset, page: meta.page };
}

/** Documented fields that differ between two versions of the same record. */
export function differingFields(one: DocumentedRecord, other: DocumentedRecord): string[] {
  return Object.keys(documentedRecordSchema.shape).filter(
    (field) => !isDeepStrictEqual(one[field], other[field]),
  );
}
