import type { Temporal } from 'temporal-polyfill';
import type { DayRange } from '../../lambda/detection/days.ts';
import type { Assessment } from '../../lambda/events/assessment.ts';
import { UnavailableError } from '../../lambda/partner/errors.ts';
import type { ListQuery, Page, PartnerClient } from '../../lambda/partner/index.ts';
import type { Random } from './random.ts';

const firstNames = ['Ada', 'Bo', 'Cleo', 'Dov', 'Edda', 'Fay', 'Gus', 'Hana', 'Iñaki', 'Jo'];
const lastNames = ['Ash', 'Birch', 'Cedar', 'Dogwood', 'Elm', 'Fir', 'Gorse', 'Hazel', 'Ivy'];
const products = ['CPR', 'First Aid', 'Rope Bridge Safety'];

interface Entry {
  assessment: Assessment;
  archived: boolean;
  legacy: boolean;
  malformed: boolean;
}

export interface HostSwitches {
  /** Probability that something happens between two requests. */
  churn: number;
  /** Probability that a request fails. */
  faults: number;
  unstableTies: boolean;
  /** The single-record endpoint answers 404 to everything. */
  singleRecordsBroken: boolean;
}

/**
 * The partner for the simulation: the list and the single record by the rules of partner-api.md, over
 * a world in which anything can happen between two requests. It knows the truth.
 */
export class Host implements Pick<PartnerClient, 'list' | 'get'> {
  readonly #random: Random;
  readonly #today: () => Temporal.PlainDate;
  readonly entries = new Map<number, Entry>();
  readonly #gone = new Map<number, Entry>();
  /** Ids that were truly absent when the single-record endpoint said so. */
  readonly trulyAbsent = new Set<number>();
  /** The order in which ids became visible, by the number of requests answered before. */
  readonly appearedAt = new Map<number, number>();
  requests = 0;
  /** What the last pulse showed first. */
  lastPulse: number | undefined;
  /** Things that have happened so far, and what each record was last part of. */
  moment = 0;
  readonly touchedAt = new Map<number, number>();
  #nextId = 1;
  switches: HostSwitches = {
    churn: 0,
    faults: 0,
    unstableTies: false,
    singleRecordsBroken: false,
  };

  constructor(random: Random, today: () => Temporal.PlainDate) {
    this.#random = random;
    this.#today = today;
  }

  async list(query: ListQuery = {}): Promise<Page> {
    this.#between();
    const { filter = {}, sort = 'certified_on', order = 'ASC', page = 50, offset = 0 } = query;
    const from = filter.start_date?.toString() ?? '';
    const to = filter.end_date?.toString() ?? '~';
    const { organization_ids = [], legacy_record = [], user_record_status = [] } = filter;
    const matching = [...this.entries.values()].filter(
      ({ assessment, archived, legacy }) =>
        assessment.certified_on >= from &&
        assessment.certified_on <= to &&
        (organization_ids.length === 0 || organization_ids.includes(assessment.organization_id)) &&
        (legacy_record.length === 0 || legacy_record.includes(legacy)) &&
        (user_record_status.length === 0 ||
          user_record_status.includes(archived ? 'archived' : 'active')),
    );
    const keyOf = {
      certified_on: ({ certified_on }: Assessment) => certified_on,
      user_name: ({ name }: Assessment) => name,
      product_name: ({ assessment_name }: Assessment) => assessment_name,
      proctor_name: ({ results }: Assessment) => results[0]?.proctor_name ?? '',
    }[sort];
    const direction = order === 'DESC' ? -1 : 1;
    const keyed = matching.map((entry) => ({
      entry,
      key: keyOf(entry.assessment),
      tie: this.switches.unstableTies ? this.#random.next() : entry.assessment.id,
    }));
    keyed.sort((a, b) => (a.key === b.key ? a.tie - b.tie : direction * (a.key < b.key ? -1 : 1)));
    const rows = keyed.slice(offset, offset + page).map(({ entry }) => entry);
    if (order === 'DESC') this.lastPulse = rows[0]?.assessment.id;
    return {
      assessments: rows.filter(({ malformed }) => !malformed).map(({ assessment }) => assessment),
      quarantined: rows.flatMap(({ malformed, assessment }, index) =>
        malformed ? [{ index, id: assessment.id, problems: ['email: expected string'] }] : [],
      ),
      meta: { count: matching.length, offset, page },
      rows: rows.length,
    };
  }

  async get(id: number): Promise<Assessment | undefined> {
    this.#between();
    const entry = this.entries.get(id);
    if (entry === undefined) this.trulyAbsent.add(id);
    return this.switches.singleRecordsBroken ? undefined : entry?.assessment;
  }

  /** Something happens in the world. */
  happen(): void {
    const random = this.#random;
    this.moment += 1;
    const kind = random.below(10);
    const entry = random.pick([...this.entries.values()]);
    if (kind < 3 || entry === undefined) this.create();
    else if (kind === 7) this.#restore();
    else this.#alter(entry, kind);
  }

  #alter(entry: Entry, kind: number): void {
    const random = this.#random;
    const { id, last_name } = entry.assessment;
    this.touchedAt.set(id, this.moment);
    if (kind === 3) this.#edit(entry, { email: `n${random.below(1e6)}@example.org` });
    else if (kind === 4) {
      const first_name = random.pick(firstNames) ?? '';
      this.#edit(entry, { first_name, name: `${first_name} ${last_name}` });
    } else if (kind === 5) this.#edit(entry, { certified_on: this.#someDay() });
    else if (kind === 6) this.#remove(id);
    else if (kind === 8) entry.archived = !entry.archived;
    else entry.malformed = random.chance(0.5);
  }

  /** Records of these days that could be read, and that nothing has happened to since. */
  standing({ from, to }: DayRange): ReadonlySet<number> {
    const [first, last] = [from?.toString() ?? '', to?.toString() ?? '~'];
    const within = [...this.entries.values()].filter(
      ({ assessment: { certified_on }, malformed }) =>
        !malformed && certified_on >= first && certified_on <= last,
    );
    return new Set(within.map(({ assessment }) => assessment.id));
  }

  create(day = this.#someDay()): void {
    const random = this.#random;
    const id = this.#nextId++;
    const first_name = random.pick(firstNames) ?? '';
    const last_name = random.pick(lastNames) ?? '';
    const assessment_name = random.pick(products) ?? '';
    this.entries.set(id, {
      archived: random.chance(0.2),
      legacy: random.chance(0.2),
      malformed: false,
      assessment: {
        id,
        seid: random.chance(0.2) ? null : `S${id}`,
        name: `${first_name} ${last_name}`,
        first_name,
        last_name,
        email: `${id}@example.org`,
        organization_id: 1 + random.below(4),
        organization_name: 'Somewhere',
        assessment_name,
        certified_on: day,
        results: [
          {
            assessment_id: id,
            assessment_name,
            certified_on: day,
            proctor_id: 1,
            proctor_name: `Proctor ${random.below(3)}`,
          },
        ],
      },
    });
    this.appearedAt.set(id, this.requests);
    this.touchedAt.set(id, this.moment);
  }

  /** The end of all trouble: nothing more happens, and everything is as documented. */
  rest(): void {
    this.switches = { churn: 0, faults: 0, unstableTies: false, singleRecordsBroken: false };
    for (const entry of this.entries.values()) entry.malformed = false;
  }

  #between(): void {
    this.requests += 1;
    if (this.#random.chance(this.switches.churn)) this.happen();
    if (this.#random.chance(this.switches.faults)) throw new UnavailableError('list', 'reset');
  }

  #someDay(): string {
    const random = this.#random;
    const span = random.chance(0.6) ? 3 : random.chance(0.5) ? 40 : 1_500;
    return this.#today()
      .subtract({ days: random.below(span) - 1 })
      .toString();
  }

  #edit(entry: Entry, changes: Partial<Assessment>): void {
    entry.assessment = { ...entry.assessment, ...changes };
  }

  #remove(id: number): void {
    const entry = this.entries.get(id);
    if (entry === undefined) return;
    this.entries.delete(id);
    this.#gone.set(id, entry);
  }

  #restore(): void {
    const id = this.#random.pick([...this.#gone.keys()]);
    const entry = id === undefined ? undefined : this.#gone.get(id);
    if (id === undefined || entry === undefined) return;
    this.#gone.delete(id);
    this.entries.set(id, entry);
    this.touchedAt.set(id, this.moment);
  }
}
