import { Temporal } from 'temporal-polyfill';
import type { Clock } from '../../clock.ts';
import type { DayRange } from '../../detection/days.ts';
import { NameOrderEvidence, type TiesByName } from '../../detection/names-tied.ts';
import type { Assessment } from '../../events/assessment.ts';
import type { PartnerClient } from '../client.ts';
import { isCutOff } from '../errors.ts';
import type { AssessmentFilter, ListQuery } from '../query.ts';
import type { Page, Quarantined } from '../records.ts';
import { type SeamRules, seamRules } from './rules.ts';

export interface ProvenReadOptions {
  readonly clock: Clock;
  /** No request is begun at or after it. */
  readonly deadline: Temporal.Instant;
  /** Calls of `list`; default: no limit but the deadline. */
  readonly maxRequests?: number;
  /** Default: `seamRules`. A test replaces some. */
  readonly rules?: SeamRules | undefined;
}

/** @param day `YYYY-MM-DD` */
export function isWithin(day: string, { from, to }: DayRange): boolean {
  return (!from || day >= from.toString()) && (!to || day <= to.toString());
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
  #nameOrder: NameOrderEvidence | undefined = new NameOrderEvidence();
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

  /** Of every assessment seen, `YYYY-MM-DD`, repeated. */
  get days(): readonly string[] {
    return this.assessments.map(({ certified_on }) => certified_on);
  }

  get organizationIds(): ReadonlySet<number> {
    return new Set(this.assessments.flatMap(({ organization_id }) => organization_id ?? []));
  }

  idsWithin(range: DayRange): ReadonlySet<number> {
    const within = this.assessments.filter(({ certified_on }) => isWithin(certified_on, range));
    return new Set(within.map(({ id }) => id));
  }

  get requests(): number {
    return this.#requests;
  }

  /** What sharing a name may mean, as far as the answers sorted by `user_name` have shown. */
  get ties(): TiesByName {
    return this.rules.tiesByName(this.#nameOrder);
  }

  /** Whether seams were accepted by what has turned out to be wrong. */
  get mistaken(): boolean {
    return this.#nameOrder?.mistaken ?? false;
  }

  observe(rows: readonly (Assessment | undefined)[]): void {
    this.#nameOrder?.observe(rows);
  }

  /** From here on every shared name may be a tie, whatever the answers show. */
  distrustNames(): void {
    this.#nameOrder = undefined;
  }

  now(): Temporal.Instant {
    return this.#options.clock.now();
  }

  /** The time, the requests or the pace are used up. */
  get isSpent(): boolean {
    const { deadline, maxRequests = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#isCutOff || this.#requests >= maxRequests) return true;
    return Temporal.Instant.compare(this.now(), deadline) >= 0;
  }

  /** @returns undefined when the time or the requests are used up */
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
      if (isCutOff(error)) {
        this.#isCutOff = true;
        return undefined;
      }
      throw error;
    }
  }

  /** The host's own count of a part; undefined when the time or the requests are used up. */
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

function dateFilters({ from, to }: DayRange): AssessmentFilter {
  return {
    ...(from && { start_date: from.toString() }),
    ...(to && { end_date: to.toString() }),
  };
}
