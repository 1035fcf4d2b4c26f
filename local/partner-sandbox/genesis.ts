import type { DocumentedRecord } from '../documented-record.ts';
import {
  Catalogue,
  type Educator,
  type Organization,
  type Proctor,
  type Product,
} from './catalogue.ts';
import { inventEducator, inventProctor } from './invention.ts';
import type { Random } from './random.ts';
import type { Row } from './rows.ts';
import type { Damage } from './world-schema.ts';
import { type DayNumber, writeDay, type ZoneDays } from './zone-days.ts';

const firstProctorId = 1001;
const firstEducatorId = 100_001;
const firstAssessmentId = 48_001;
const historyDays = 730;

/** An assessment at the partner. */
export interface SandboxRow extends Row {
  readonly assessment: DocumentedRecord;
  readonly user_id: number;
  readonly product_id: number;
  /** Epoch milliseconds; `certified_on` is its date in the partner's zone. */
  readonly completedAt: number;
  readonly damage?: Damage | undefined;
}

/** Organization and product ids that the integration may read (docs/partner.md, 1). */
export interface Scope {
  readonly organizationIds: ReadonlySet<number>;
  readonly productIds: ReadonlySet<number>;
}

interface Completion extends Invented {
  readonly educator: Educator;
  readonly organization: Organization;
  readonly product: Product;
  readonly day: DayNumber;
  /** Epoch milliseconds. */
  readonly completedAt: number;
  readonly legacy: boolean;
}

/** The invented part of a record. */
interface Invented {
  readonly id: number;
  readonly results: DocumentedRecord['results'];
}

/** The fields that all records of a person share. */
export function fieldsOf({ seid, name, first_name, last_name, email }: Educator) {
  return { seid, name, first_name, last_name, email };
}

export function rowOf({ educator, organization, product, day, ...rest }: Completion): SandboxRow {
  const { id, results, completedAt, legacy } = rest;
  const assessment = {
    id,
    ...fieldsOf(educator),
    organization_id: organization.id,
    organization_name: organization.name,
    assessment_name: product.name,
    certified_on: writeDay(day),
    results,
  };
  const { id: user_id, archived } = educator;
  return { assessment, user_id, product_id: product.id, legacy, archived, completedAt };
}

/** Invents assessments, and the entities that they refer to. */
export class Inventor {
  readonly catalogue = new Catalogue();
  readonly days: ZoneDays;
  readonly #random: Random;
  #nextEducatorId = firstEducatorId;
  #nextId = firstAssessmentId;

  constructor(random: Random, days: ZoneDays) {
    this.#random = random;
    this.days = days;
  }

  educator(organizationId: number, id = this.#nextEducatorId): Educator {
    this.#nextEducatorId = Math.max(this.#nextEducatorId, id + 1);
    return this.catalogue.educators.put(inventEducator(this.#random, id, organizationId));
  }

  /** Ids only grow, with gaps, like real ones. Assessments and parts share them. */
  #takeId(): number {
    const id = this.#nextId;
    this.#nextId += 1 + this.#random.below(3);
    return id;
  }

  /** Skips an id that was chosen by hand. */
  passOver(id: number): void {
    this.#nextId = Math.max(this.#nextId, id + 1);
  }

  /**
   * One entry of `results` for each part, most of them completed on earlier days; or the entry for the assessment
   * itself.
   *
   * @param known the assessment's id, unless it is a new one
   */
  results({ name, parts }: Product, day: DayNumber, known?: number): Invented {
    if (parts.length === 0) {
      const proctor = this.#anyProctor();
      const id = known ?? this.#takeId();
      return { id, results: [resultPart(id, name, day, proctor)] };
    }
    const results = parts.map((part, index) => {
      const own = this.#takeId();
      const earlier = (parts.length - 1 - index) * this.#random.below(30);
      return resultPart(own, part, day - earlier, this.#anyProctor());
    });
    return { id: known ?? this.#takeId(), results };
  }

  #anyProctor(): Proctor {
    const { proctors } = this.catalogue;
    return proctors.at(this.#random.below(proctors.size));
  }
}

function resultPart(assessment_id: number, name: string, day: DayNumber, proctor: Proctor) {
  return {
    assessment_id,
    assessment_name: name,
    certified_on: writeDay(day),
    proctor_id: proctor.id,
    proctor_name: proctor.name,
  };
}

/** Mostly in school hours, but sometimes within seconds of midnight, where mistakes in bounds show. */
export function inventMoment(random: Random, days: ZoneDays, day: DayNumber): number {
  const start = days.startOf(day);
  const length = days.startOf(day + 1) - start;
  if (random.chance(0.02)) return start + random.below(2000);
  if (random.chance(0.02)) return start + length - 1 - random.below(2000);
  return start + 7 * 3_600_000 + random.below(10 * 3_600_000);
}

function inventDays(random: Random, count: number, until: DayNumber): Int32Array {
  const days = new Int32Array(count);
  for (let index = 0; index < count; index++) {
    const day = until - Math.floor(historyDays * random.next());
    // 1970-01-01 was a Thursday. Weekends keep a seventh of their share.
    const weekday = (((day + 4) % 7) + 7) % 7;
    const weekend = weekday === 0 || weekday === 6;
    days[index] = weekend && random.chance(0.85) ? day - (weekday === 0 ? 2 : 1) : day;
  }
  return days.sort();
}

/** All but the last two organizations, and all but the last product. */
export function firstScope({ organizations, products }: Catalogue): Scope {
  const ids = (rows: readonly { readonly id: number }[]) => new Set(rows.map(({ id }) => id));
  return {
    organizationIds: ids(organizations.all.slice(0, -2)),
    productIds: ids(products.all.slice(0, -1)),
  };
}

/**
 * Invents the partner's world over the two years that end with `until`: `count` assessments that the integration can
 * see, and a twentieth more that it cannot. Ids grow with completion, like real ones.
 */
export function* genesis(
  inventor: Inventor,
  random: Random,
  count: number,
  until: DayNumber,
): Generator<SandboxRow> {
  const { catalogue, days } = inventor;
  const { organizations, products, proctors, educators } = catalogue;
  const manyProctors = Math.max(8, Math.min(2000, Math.floor(count / 50)));
  for (let index = 0; index < manyProctors; index++)
    proctors.put(inventProctor(random, firstProctorId + index));
  if (count === 0) return;

  const outside = Math.ceil(count / 20);
  const insiders = Math.ceil(count / 2.2);
  const outsiders = Math.ceil(outside / 2.2);
  const inventEducators = (many: number, homes: readonly Organization[]) => {
    for (let index = 0; index < many; index++) inventor.educator(random.pick(homes).id);
  };
  inventEducators(insiders, organizations.all.slice(0, -2));
  inventEducators(outsiders, organizations.all.slice(-2));

  const productsInScope = products.size - 1;
  let hidden = outside;
  let remaining = count + outside;
  for (const day of inventDays(random, remaining, until)) {
    // The probability depends on the rest, so exactly `outside` records end up out of scope.
    const hide = random.below(remaining--) < hidden;
    if (hide) hidden--;
    const unknownProduct = hide && random.chance(0.3);
    const educator = educators.at(
      hide === unknownProduct ? random.below(insiders) : insiders + random.below(outsiders),
    );
    const product = products.at(unknownProduct ? productsInScope : random.below(productsInScope));
    yield rowOf({
      ...{ educator, product, day, ...inventor.results(product, day) },
      organization: organizations.require(educator.organization_id),
      completedAt: inventMoment(random, days, day),
      legacy: random.chance(0.1),
    });
  }
}
