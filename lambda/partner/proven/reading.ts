import { isDeepStrictEqual } from 'node:util';
import { type DayRange, isWithin } from '../../decisions/days.ts';
import { NameOrderEvidence } from '../../decisions/names-tied.ts';
import type { Assessment } from '../../events/assessment.ts';
import {
  type AssessmentFilter,
  type ListQuery,
  MAX_PAGE_SIZE,
  type Page,
  type Quarantined,
} from '../api.ts';
import { isCutOff } from '../errors.ts';

/** A set of assessments to be read as one sorted list. */
export interface ReadPart {
  readonly range: DayRange;
  readonly filter: AssessmentFilter;
}

/** Fewer rows say nothing about a cap: so few may be all that there are, at a total that is too high. */
const leastCap = 10;

/** The memory of the reads of one process. */
export interface HostPages {
  /** The most rows of its pages by the newest one, if fewer than it says. Reads ask for no more. */
  cap?: number | undefined;
  /** The same by a read. One short page confirms it. */
  short?: number;
}

/** The rows that a page has room for, and those that it should have: rows decide, not `meta.page`. */
export function roomOf({ rows, meta }: Page, asked: number) {
  const room = rows === meta.page ? meta.page : asked;
  return { room, whole: Math.min(room, Math.max(0, meta.count - meta.offset)) };
}

/**
 * Each tick's first page shows the cap, so that no read needs requests to learn it: at a few requests
 * a minute, none would get on.
 */
export function notePulse(host: HostPages, page: Page): void {
  const { whole } = roomOf(page, MAX_PAGE_SIZE);
  host.cap = page.rows < whole && page.rows >= leastCap ? page.rows : undefined;
}

/** One read of a range: the records that it has seen, and whether it may ask for more. */
export class Reading {
  readonly #list: (query: ListQuery) => Promise<Page>;
  readonly #host: HostPages;
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
  /** The most rows of a page at this host; `meta.page` may be larger. */
  mostRows: number;
  /** Rows of the last page that was short; `other`: no cap explains the short pages. */
  #short: number | 'other' | undefined;
  /** The time or the pace is used up. */
  isSpent = false;

  constructor(list: (query: ListQuery) => Promise<Page>, host: HostPages = {}) {
    this.#list = list;
    this.#host = host;
    this.#short = host.short;
    this.mostRows = host.cap ?? MAX_PAGE_SIZE;
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

  /** Notes a page with too few rows. Two with the same number of rows teach a cap, until a third. */
  noteShort(rows: number): void {
    const isCap = rows > 0 && rows === this.#short && this.mostRows === MAX_PAGE_SIZE;
    if (this.mostRows < MAX_PAGE_SIZE) this.#short = 'other';
    else if (this.#short !== 'other') this.#short = rows;
    this.mostRows = isCap ? rows : MAX_PAGE_SIZE;
    if (isCap) this.#host.short = rows;
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
