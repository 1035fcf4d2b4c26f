import type { Assessment } from '../../lambda/events/assessment.ts';
import {
  CredentialsRefusedError,
  MalformedRecordError,
  RateLimitedError,
  UnavailableError,
} from '../../lambda/partner/errors.ts';
import type { ListQuery, Page, PartnerClient } from '../../lambda/partner/index.ts';
import type { Note } from './coverage.ts';
import type { Random } from './random.ts';
import type { Entry, World } from './world.ts';

export interface HostSwitches {
  /** Probability that something happens between two requests. */
  churn: number;
  /** Probability that a request fails. */
  faults: number;
  unstableTies: boolean;
  /** The single-record endpoint answers 404 to everything. */
  singleRecordsBroken: boolean;
}

export const peaceful: HostSwitches = {
  churn: 0,
  faults: 0,
  unstableTies: false,
  singleRecordsBroken: false,
};

/**
 * The partner for the simulation: the list and the single record by the rules of partner-api.md, over
 * a world in which anything can happen between two requests.
 */
export class Host implements Pick<PartnerClient, 'list' | 'get'> {
  readonly #random: Random;
  readonly #world: World;
  readonly #note: Note;
  /** Ids that were truly absent when the single-record endpoint said so. */
  #trulyAbsent = new Set<number>();
  #trulyAbsentBefore = new Set<number>();
  switches = peaceful;
  /** Their lookups fail, those of others do not. */
  unfetchable: ReadonlySet<number> = new Set();
  /** What happens during the next read of days. */
  meanwhile: (() => void) | undefined;

  constructor(random: Random, world: World, note: Note) {
    this.#random = random;
    this.#world = world;
    this.#note = note;
  }

  async list(query: ListQuery = {}): Promise<Page> {
    this.#between();
    const { filter = {}, sort = 'certified_on', order = 'ASC', page = 50, offset = 0 } = query;
    if (sort === 'user_name') {
      this.meanwhile?.();
      this.meanwhile = undefined;
    }
    const from = filter.start_date?.toString() ?? '';
    const to = filter.end_date?.toString() ?? '~';
    const { organization_ids = [], legacy_record = [], user_record_status = [] } = filter;
    const matching = [...this.#world.entries.values()].filter(
      ({ assessment, archived, legacy }) =>
        assessment.certified_on >= from &&
        assessment.certified_on <= to &&
        (organization_ids.length === 0 || organization_ids.includes(assessment.organization_id)) &&
        (legacy_record.length === 0 || legacy_record.includes(legacy)) &&
        (user_record_status.length === 0 ||
          user_record_status.includes(archived ? 'archived' : 'active')),
    );
    const rows = this.#sorted(matching, sort, order).slice(offset, offset + page);
    return {
      assessments: rows.filter(({ malformed }) => !malformed).map(({ assessment }) => assessment),
      quarantined: rows.flatMap(({ malformed, assessment }, index) =>
        malformed ? [{ index, id: assessment.id, problems: ['email: expected string'] }] : [],
      ),
      meta: { count: matching.length, offset, page },
      rows: rows.length,
    };
  }

  #sorted(entries: readonly Entry[], sort: string, order: string): readonly Entry[] {
    const keyOf = ({ assessment: { name, certified_on, assessment_name, results } }: Entry) => {
      if (sort === 'user_name') return name;
      if (sort === 'product_name') return assessment_name;
      return sort === 'proctor_name' ? (results[0]?.proctor_name ?? '') : certified_on;
    };
    const direction = order === 'DESC' ? -1 : 1;
    const { unstableTies } = this.switches;
    if (unstableTies) this.#note('unstable ties');
    return entries
      .map((entry) => ({
        entry,
        key: keyOf(entry),
        tie: unstableTies ? this.#random.next() : entry.assessment.id,
      }))
      .sort((a, b) => (a.key === b.key ? a.tie - b.tie : direction * (a.key < b.key ? -1 : 1)))
      .map(({ entry }) => entry);
  }

  async get(id: number): Promise<Assessment | undefined> {
    this.#between();
    const entry = this.#world.entries.get(id);
    if (entry === undefined) this.#trulyAbsent.add(id);
    if (this.switches.singleRecordsBroken) {
      this.#note('broken single-record endpoint');
      return undefined;
    }
    if (this.unfetchable.has(id)) throw new UnavailableError('get', 'status 500');
    if (entry?.malformed) throw new MalformedRecordError(id, ['email: expected string']);
    return entry?.assessment;
  }

  wasTrulyAbsent(id: number): boolean {
    return this.#trulyAbsent.has(id) || this.#trulyAbsentBefore.has(id);
  }

  /** What was absent when the ticks before the last ones asked counts no more; a dead one's commit can be late. */
  forgetAbsences(): void {
    this.#trulyAbsentBefore = this.#trulyAbsent;
    this.#trulyAbsent = new Set();
  }

  #between(): void {
    const random = this.#random;
    if (random.chance(this.switches.churn)) {
      this.#note('between two requests');
      this.#world.happen();
    }
    if (!random.chance(this.switches.faults)) return;
    const fault = random.below(20);
    this.#note(fault === 0 ? 'credentials refused' : 'failed request');
    if (fault === 0) throw new CredentialsRefusedError();
    throw fault < 4 ? new RateLimitedError('list') : new UnavailableError('list', 'reset');
  }
}
