import { isDeepStrictEqual } from 'node:util';
import { type DayRange, isWithin } from '../../decisions/days.ts';
import { NameOrderEvidence } from '../../decisions/names-tied.ts';
import type { Assessment } from '../../events/assessment.ts';
import type { AssessmentFilter, ListQuery, Page, Quarantined } from '../api.ts';
import { isCutOff } from '../errors.ts';

/** A set of assessments to be read as one sorted list. */
export interface ReadPart {
  readonly range: DayRange;
  readonly filter: AssessmentFilter;
}

/** One read of a range: the records that it has seen, and whether it may ask for more. */
export class Reading {
  readonly #list: (query: ListQuery) => Promise<Page>;
  readonly #seen = new Map<number, Versions>();
  /** By id, or by its problems where there is no id. */
  readonly quarantined = new Map<number | string, Quarantined>();
  /** Undefined: every shared name may be a tie, even if the answers show otherwise. */
  nameOrder: NameOrderEvidence | undefined = new NameOrderEvidence();
  requests = 0;
  /** The host's count on the first page; undefined before that. */
  firstCount: number | undefined;
  /** Some page had an id twice, with the same content or malformed: a record may lack its row. */
  hasRepeats = false;
  /** Pages that were read in pieces; `differ`: the counts of one have contradicted each other. */
  pieces: Page['pieces'];
  /** The most rows of a page at this host; `meta.page` may be larger. A page with fewer refutes it. */
  mostRows: number;
  /** The time or the pace is used up. */
  isSpent = false;

  constructor(list: (query: ListQuery) => Promise<Page>, mostRows: number) {
    this.#list = list;
    this.mostRows = mostRows;
  }

  /** An id is there more than once if one page showed it so. */
  get assessments(): readonly Assessment[] {
    return [...this.#seen.values()].flatMap(({ rows }) => rows);
  }

  /** Other versions of these, which other pages showed. */
  get others(): readonly Assessment[] {
    return [...this.#seen.values()].flatMap(({ others }) => others);
  }

  /** A quarantined record may be of any day of the range, and a copy may stand in the place of another record. */
  get isDoubtful(): boolean {
    return this.quarantined.size > 0 || this.hasRepeats;
  }

  /** Each page was one answer, with a row for each of its records. */
  get isOfWholePages(): boolean {
    return !this.hasRepeats && this.pieces === undefined;
  }

  /** One page has shown it twice: no page follows another by such a record. */
  isTwice(id: number): boolean {
    return (this.#seen.get(id)?.rows.length ?? 0) > 1;
  }

  /** Different ids that were seen; a record without one counts by its problems. */
  get ids(): number {
    return new Set<number | string>([...this.#seen.keys(), ...this.quarantined.keys()]).size;
  }

  seenWithin(range: DayRange): readonly Assessment[] {
    return this.assessments.filter(({ certified_on }) => isWithin(certified_on, range));
  }

  /** @returns undefined when the time or the pace is used up */
  async page(
    part: ReadPart,
    query: Pick<ListQuery, 'sort' | 'offset' | 'page'>,
  ): Promise<Page | undefined> {
    if (this.isSpent) return undefined;
    this.requests += 1;
    const filter = { ...part.filter, ...dateFilters(part.range) };
    try {
      const page = await this.#list({ ...query, order: 'ASC', filter });
      this.#remember(page);
      return page;
    } catch (error) {
      if (!isCutOff(error)) throw error;
      // It had no answer.
      this.requests -= 1;
      this.isSpent = true;
      return undefined;
    }
  }

  /** The host's own count of a part; undefined when the time or the pace is used up. */
  async count(part: ReadPart): Promise<number | undefined> {
    return (await this.page(part, { page: 1 }))?.meta.count;
  }

  /** The last answer counts: a record may have been mended, or broken, in between. */
  #remember({ assessments, quarantined, copies = [], pieces, meta }: Page): void {
    this.firstCount ??= meta.count;
    if (this.pieces !== 'differ') this.pieces = pieces ?? this.pieces;
    const shown = new Set(assessments.map(({ id }) => id));
    this.hasRepeats ||=
      copies.length > 0 ||
      quarantined.some(({ id, isCopy }) => isCopy || (id !== undefined && shown.has(id)));
    for (const { id } of quarantined) if (id !== undefined) this.#seen.delete(id);
    for (const [id, rows] of Map.groupBy(assessments, (one) => one.id)) {
      this.quarantined.delete(id);
      this.#seen.set(id, versionsOf(rows, this.#seen.get(id)));
    }
    for (const record of quarantined)
      this.quarantined.set(record.id ?? record.problems.join('; '), record);
  }
}

/** The versions of one id on the pages of a read. */
interface Versions {
  /** The rows of the page with the most; of several, the last. */
  readonly rows: readonly Assessment[];
  readonly others: readonly Assessment[];
}

function versionsOf(rows: readonly Assessment[], before: Versions | undefined): Versions {
  if (before === undefined) return { rows, others: [] };
  const most = rows.length < before.rows.length ? before.rows : rows;
  const others: Assessment[] = [];
  for (const row of [...before.rows, ...before.others, ...rows])
    if (![...most, ...others].some((one) => isDeepStrictEqual(one, row))) others.push(row);
  return { rows: most, others };
}

export function dateFilters({ from, to }: DayRange): AssessmentFilter {
  return {
    ...(from && { start_date: from.toString() }),
    ...(to && { end_date: to.toString() }),
  };
}
