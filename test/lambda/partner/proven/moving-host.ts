import { Temporal } from 'temporal-polyfill';
import { isWithin } from '../../../../lambda/decisions/days.ts';
import type { ListQuery, Page, PartnerClient } from '../../../../lambda/partner/index.ts';
import type { UserNameOrder } from '../../../../local/partner-sandbox/list.ts';
import { Rows } from '../../../../local/partner-sandbox/rows.ts';
import { answer, type HostRecord } from '../../../scaffold/listing.ts';
import { assessment } from '../../../support/assessments.ts';
import { NamePool, type PoolShape } from './name-pool.ts';
import { Random } from './random.ts';

export interface WorldShape {
  readonly records: number;
  readonly perDay: number;
  readonly pool: PoolShape;
  readonly hostOrder: UserNameOrder;
  /** Chance of a change between two requests. */
  readonly churn: number;
  /** Number of changes at once; default 1. */
  readonly burst?: number;
  /** Share of the records whose names it sorts by and does not send; default 0. */
  readonly nameless?: number;
}

const FIRST_DAY = Temporal.PlainDate.from('2026-01-05');

/**
 * A world that changes between two requests: records appear, disappear, and change their day or
 * their e-mail. Ties come in another order with each answer.
 */
export class MovingHost implements Pick<PartnerClient, 'list'> {
  readonly range: { readonly from: Temporal.PlainDate; readonly to: Temporal.PlainDate };
  requests = 0;
  readonly #random: Random;
  readonly #shape: WorldShape;
  readonly #pool: NamePool;
  readonly #records = new Rows<HostRecord>(() => 0);
  readonly #days: readonly string[];
  /** Ids of the records that were in the range from the start on, without a gap. */
  readonly stable = new Set<number>();
  /** Stable records that changed their day within the range. */
  readonly movers = new Set<number>();
  #nextId = 1;

  constructor(shape: WorldShape, seed: number) {
    this.#shape = shape;
    this.#random = new Random(seed);
    this.#pool = new NamePool(this.#random, shape.pool);
    const days = Math.max(1, Math.round(shape.records / shape.perDay));
    this.range = { from: FIRST_DAY, to: FIRST_DAY.add({ days: days - 1 }) };
    this.#days = Array.from({ length: days + 4 }, (_, index) =>
      FIRST_DAY.add({ days: index - 2 }).toString(),
    );
    const within = this.#days.slice(2, -2);
    while (this.#records.all.size < shape.records) this.#insert(this.#random.pick(within));
    for (const id of this.#records.all.keys()) this.stable.add(id);
  }

  async list(query: ListQuery = {}): Promise<Page> {
    if (this.requests > 0 && this.#random.next() < this.#shape.churn)
      for (let event = 0; event < (this.#shape.burst ?? 1); event++) this.#happen();
    this.requests += 1;
    const { hostOrder, nameless = 0 } = this.#shape;
    const ordering = { userName: hostOrder, tie: () => this.#random.next() };
    const page = answer(this.#records.byDay, query, ordering);
    // The same records are nameless in each answer.
    const isNameless = (id: number) => ((id * 7919) % 1009) / 1009 < nameless;
    return {
      ...page,
      assessments: page.assessments.map((row) =>
        isNameless(row.id) ? { ...row, name: null, first_name: null, last_name: null } : row,
      ),
    };
  }

  #happen(): void {
    const kind = this.#random.pick(['insert', 'remove', 'move', 'edit'] as const);
    if (kind === 'insert') {
      this.#insert(this.#random.pick(this.#days));
      return;
    }
    const [id, { assessment, ...rest }] = this.#random.pick([...this.#records.all]);
    if (kind === 'remove') {
      this.#records.delete(id);
      this.stable.delete(id);
      return;
    }
    const changes =
      kind === 'edit'
        ? { email: `edited-${this.requests}@example.org` }
        : { certified_on: this.#random.pick(this.#days) };
    const changed = { ...assessment, ...changes };
    this.#records.put({ ...rest, assessment: changed });
    if (!isWithin(changed.certified_on, this.range)) this.stable.delete(id);
    else if (changed.certified_on !== assessment.certified_on) this.movers.add(id);
  }

  #insert(certified_on: string): void {
    const id = this.#nextId++;
    const random = this.#random;
    // Every third record is of a known person.
    const known =
      id > 3 && random.next() < 0.33 ? this.#records.all.get(1 + random.below(id - 1)) : undefined;
    const { first, last } = known
      ? { first: known.assessment.first_name ?? '', last: known.assessment.last_name ?? '' }
      : this.#pool.person(random);
    const proctor = random.below(40);
    const assessment_name = `Invented assessment ${random.below(20)}`;
    const legacy = random.next() < 0.3;
    const archived = random.next() < 0.1;
    const whole = assessment({
      ...{ id, name: `${first} ${last}`, first_name: first, last_name: last },
      ...{ organization_id: 1 + random.below(12), assessment_name, certified_on },
    });
    const results = whole.results.map((part) => ({
      ...{ ...part, proctor_id: proctor, proctor_name: `Proctor ${proctor}` },
    }));
    this.#records.put({ legacy, archived, assessment: { ...whole, results } });
  }
}
