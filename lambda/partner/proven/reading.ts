import { Temporal } from 'temporal-polyfill';
import type { Clock } from '../../clock.ts';
import { type DayRange, isWithin } from '../../detection/days.ts';
import { NameOrderEvidence } from '../../detection/names-tied.ts';
import type { Assessment } from '../../events/assessment.ts';
import type { AssessmentFilter, ListQuery, Page, Quarantined } from '../api.ts';
import type { PartnerClient } from '../client.ts';
import { isCutOff } from '../errors.ts';
import { type SeamRules, seamRules } from './rules.ts';

export interface ProvenReadOptions {
  readonly clock: Clock;
  /** No request is begun at or after it. */
  readonly deadline: Temporal.Instant;
  /** Default: `seamRules`. A test replaces some. */
  readonly rules?: SeamRules | undefined;
}

/** A set of assessments to be read as one sorted list. */
export interface Part {
  readonly range: DayRange;
  readonly filter: Pick<
    AssessmentFilter,
    'legacy_record' | 'user_record_status' | 'organization_ids'
  >;
}

/** One read of a range: what it has seen, and what it may still spend. */
export class Reading {
  readonly #client: Pick<PartnerClient, 'list'>;
  readonly #options: ProvenReadOptions;
  readonly rules: SeamRules;
  readonly #seen = new Map<number, Assessment>();
  /** By id, or by what is wrong where there is no id. */
  readonly #quarantined = new Map<number | string, Quarantined>();
  /** Undefined: every shared name may be a tie, whatever the answers show. */
  nameOrder: NameOrderEvidence | undefined = new NameOrderEvidence();
  #requests = 0;
  #isCutOff = false;

  constructor(client: Pick<PartnerClient, 'list'>, options: ProvenReadOptions) {
    this.#client = client;
    this.#options = options;
    this.rules = options.rules ?? seamRules;
  }

  get assessments(): readonly Assessment[] {
    return [...this.#seen.values()];
  }

  get quarantined(): readonly Quarantined[] {
    return [...this.#quarantined.values()];
  }

  seenWithin(range: DayRange): readonly Assessment[] {
    return this.assessments.filter(({ certified_on }) => isWithin(certified_on, range));
  }

  get requests(): number {
    return this.#requests;
  }

  /** The time or the pace is used up. */
  get isSpent(): boolean {
    const { clock, deadline } = this.#options;
    return this.#isCutOff || Temporal.Instant.compare(clock.now(), deadline) >= 0;
  }

  /** @returns undefined when the time or the pace is used up */
  async page(
    part: Part,
    query: Pick<ListQuery, 'sort' | 'offset' | 'page'>,
  ): Promise<Page | undefined> {
    const { deadline } = this.#options;
    if (this.isSpent) return undefined;
    this.#requests += 1;
    try {
      const filter = { ...part.filter, ...dateFilters(part.range) };
      const page = await this.#client.list({ ...query, order: 'ASC', filter }, { deadline });
      this.#remember(page);
      return page;
    } catch (error) {
      if (!isCutOff(error)) throw error;
      this.#isCutOff = true;
      return undefined;
    }
  }

  /** The host's own count of a part; undefined when the time or the pace is used up. */
  async count(part: Part): Promise<number | undefined> {
    return (await this.page(part, { page: 1 }))?.meta.count;
  }

  /** What was read last counts: a record may have been mended, or spoiled, in between. */
  #remember({ assessments, quarantined }: Page): void {
    for (const { id } of quarantined) if (id !== undefined) this.#seen.delete(id);
    for (const assessment of assessments) {
      this.#quarantined.delete(assessment.id);
      this.#seen.set(assessment.id, assessment);
    }
    for (const record of quarantined) {
      this.#quarantined.set(record.id ?? record.problems.join('; '), record);
    }
  }
}

export function dateFilters({ from, to }: DayRange): AssessmentFilter {
  return {
    ...(from && { start_date: from.toString() }),
    ...(to && { end_date: to.toString() }),
  };
}
