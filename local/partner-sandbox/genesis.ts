import { Catalogue } from './catalogue.ts';
import { inventEducator, inventOrganizations, inventProctor, inventProducts } from './invention.ts';
import type { Random } from './random.ts';
import { type NewPart, Records, type Scope } from './records.ts';
import type { DayNumber, ZoneDays } from './zone-days.ts';

const firstProctorId = 1001;
const firstEducatorId = 100_001;
const firstAssessmentId = 48_001;
const historyDays = 730;

/** Hands out ids that only grow, with gaps, like real ones. Assessments and parts share them. */
export class IdSequence {
  #next = firstAssessmentId;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  take(): number {
    const id = this.#next;
    this.#next += 1 + this.#random.below(3);
    return id;
  }

  /** Skips an id that was chosen by hand. */
  passOver(id: number): void {
    if (id >= this.#next) this.#next = id + 1;
  }
}

/** Invents the fields of a completed assessment; positions refer to the catalogue. */
export class Inventor {
  readonly catalogue: Catalogue;
  readonly ids: IdSequence;
  readonly #random: Random;
  #nextEducatorId = firstEducatorId;

  constructor(catalogue: Catalogue, random: Random) {
    this.catalogue = catalogue;
    this.#random = random;
    this.ids = new IdSequence(random);
  }

  /** @returns the position of a new educator of that organization. */
  educator(organizationId: number, id = this.#nextEducatorId): number {
    this.#nextEducatorId = Math.max(this.#nextEducatorId, id + 1);
    return this.catalogue.educators.add(inventEducator(this.#random, id, organizationId));
  }

  proctor(): number {
    return this.#random.below(this.catalogue.proctors.size);
  }

  /** One entry for each part, most of them completed on earlier days; or the entry for the assessment itself. */
  parts(product: number, day: DayNumber): NewPart[] {
    const names = this.catalogue.products.at(product).parts;
    if (names.length === 0) return [{ id: undefined, day, proctor: this.proctor() }];
    return names.map((_, index) => ({
      id: this.ids.take(),
      day: day - (names.length - 1 - index) * this.#random.below(30),
      proctor: this.proctor(),
    }));
  }
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

function inventProctors({ proctors }: Catalogue, random: Random, many: number): void {
  for (let index = 0; index < many; index++)
    proctors.add(inventProctor(random, firstProctorId + index));
}

function inventEducators(
  inventor: Inventor,
  random: Random,
  many: number,
  organizations: readonly { readonly id: number }[],
): void {
  for (let index = 0; index < many; index++) {
    const organization = organizations[random.below(organizations.length)];
    if (organization !== undefined) inventor.educator(organization.id);
  }
}

export interface Genesis {
  readonly records: Records;
  readonly inventor: Inventor;
}

/**
 * Invents the partner's world over the two years that end with `until`: `count` assessments that the integration can
 * see, and a twentieth more that it cannot. Ids grow with completion, like real ones.
 */
export function genesis(random: Random, count: number, days: ZoneDays, until: DayNumber): Genesis {
  const organizations = inventOrganizations();
  const products = inventProducts();
  const catalogue = new Catalogue();
  for (const organization of organizations) catalogue.organizations.add(organization);
  for (const product of products) catalogue.products.add(product);
  inventProctors(catalogue, random, Math.max(8, Math.min(2000, Math.floor(count / 50))));

  const organizationsInScope = organizations.length - 2;
  const productsInScope = products.length - 1;
  const scope: Scope = {
    organizationIds: new Set(organizations.slice(0, organizationsInScope).map(({ id }) => id)),
    productIds: new Set(products.slice(0, productsInScope).map(({ id }) => id)),
  };
  const inventor = new Inventor(catalogue, random);
  const records = new Records(catalogue, days, scope);
  if (count === 0) return { records, inventor };

  const outside = Math.ceil(count / 20);
  const insiders = Math.ceil(count / 2.2);
  const outsiders = Math.ceil(outside / 2.2);
  inventEducators(inventor, random, insiders, organizations.slice(0, organizationsInScope));
  inventEducators(inventor, random, outsiders, organizations.slice(organizationsInScope));

  let hidden = outside;
  let remaining = count + outside;
  for (const day of inventDays(random, remaining, until)) {
    // The probability depends on the rest, so exactly `outside` records end up out of scope.
    const hide = random.below(remaining--) < hidden;
    if (hide) hidden--;
    const unknownProduct = hide && random.chance(0.3);
    const educator =
      hide === unknownProduct ? random.below(insiders) : insiders + random.below(outsiders);
    const product = unknownProduct ? productsInScope : random.below(productsInScope);
    const parts = inventor.parts(product, day);
    records.add({
      id: inventor.ids.take(),
      educator,
      organization:
        catalogue.organizations.positionOf(catalogue.educators.at(educator).organization_id) ?? 0,
      product,
      completedAt: inventMoment(random, days, day),
      legacy: random.chance(0.1),
      parts,
    });
  }
  return { records, inventor };
}
