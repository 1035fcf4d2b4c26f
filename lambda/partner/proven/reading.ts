import { type DayRange, isWithin } from '../../detection/days.ts';
import { NameOrderEvidence } from '../../detection/names-tied.ts';
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
  readonly #seen = new Map<number, Assessment>();
  /** By id, or by its problems where there is no id. */
  readonly quarantined = new Map<number | string, Quarantined>();
  /** Undefined: every shared name may be a tie, even if the answers show otherwise. */
  nameOrder: NameOrderEvidence | undefined = new NameOrderEvidence();
  requests = 0;
  /** The time or the pace is used up. */
  isSpent = false;

  constructor(list: (query: ListQuery) => Promise<Page>) {
    this.#list = list;
  }

  get assessments(): readonly Assessment[] {
    return [...this.#seen.values()];
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
      this.isSpent = true;
      return undefined;
    }
  }

  /** The host's own count of a part; undefined when the time or the pace is used up. */
  async count(part: ReadPart): Promise<number | undefined> {
    return (await this.page(part, { page: 1 }))?.meta.count;
  }

  /** The last answer counts: a record may have been mended, or broken, in between. */
  #remember({ assessments, quarantined }: Page): void {
    for (const { id } of quarantined) if (id !== undefined) this.#seen.delete(id);
    for (const assessment of assessments) {
      this.quarantined.delete(assessment.id);
      this.#seen.set(assessment.id, assessment);
    }
    for (const record of quarantined)
      this.quarantined.set(record.id ?? record.problems.join('; '), record);
  }
}

export function dateFilters({ from, to }: DayRange): AssessmentFilter {
  return {
    ...(from && { start_date: from.toString() }),
    ...(to && { end_date: to.toString() }),
  };
}
