import { Temporal } from 'temporal-polyfill';
import type { Clock } from '../../lambda/clock.ts';
import type { DocumentedRecord } from '../documented-record.ts';
import type { Catalogue, Educator, Organization, Product } from './catalogue.ts';
import { NotInWorldError, SandboxRequestError } from './errors.ts';
import {
  fieldsOf,
  firstScope,
  genesis,
  Inventor,
  inventMoment,
  rowOf,
  type SandboxRow,
  type Scope,
} from './genesis.ts';
import { described, personFor } from './people.ts';
import { type Random, seededRandom } from './random.ts';
import { Rows } from './rows.ts';
import type { Changes, Damage, Hidden, NewAssessment, ScopeChange } from './world-schema.ts';
import { requireDay, requireZone, writeDay } from './zone-days.ts';

export interface WorldOptions {
  readonly seed: number;
  /** Assessments in scope; a twentieth more is invented out of scope. */
  readonly records: number;
  readonly timeZone: string;
  /** The last day of the invented history, `YYYY-MM-DD`. */
  readonly until: string;
  readonly clock: Clock;
}

/** The partner's world behind the API, under the control of a test or a person. */
export class World {
  /** The assessments that the integration can see now. */
  readonly rows: Rows<SandboxRow>;
  /** Those that are removed or out of scope, too. */
  readonly #all = new Map<number, SandboxRow>();
  readonly #removed = new Set<number>();
  #scope: Scope;
  readonly #inventor: Inventor;
  readonly #random: Random;
  readonly #clock: Clock;

  /** @throws SandboxRequestError for an unknown time zone or an impossible day. */
  constructor({ seed, records, timeZone, until, clock }: WorldOptions) {
    const lastDay = requireDay(until);
    const random = seededRandom(seed, 'genesis');
    this.rows = new Rows(() => clock.now().epochMilliseconds);
    this.#inventor = new Inventor(random, requireZone(timeZone));
    this.#scope = firstScope(this.catalogue);
    this.#random = seededRandom(seed, 'world');
    this.#clock = clock;
    for (const row of genesis(this.#inventor, random, records, lastDay)) this.#put(row);
    this.rows.forgetPast();
  }

  get catalogue(): Catalogue {
    return this.#inventor.catalogue;
  }

  get timeZone(): string {
    return this.#inventor.days.timeZone;
  }

  get scope(): Scope {
    return this.#scope;
  }

  /** The number of assessments that the integration can see now. */
  get count(): number {
    return this.rows.all.size;
  }

  /** Everything the integration can see, oldest day first and by id within a day. */
  *assessments(): Generator<DocumentedRecord> {
    const { byDay } = this.rows;
    for (const day of byDay.between()) for (const { assessment } of byDay.on(day)) yield assessment;
  }

  /** @returns the record, also if it is removed or out of scope; undefined for part ids. */
  get(id: number): DocumentedRecord | undefined {
    return this.#all.get(id)?.assessment;
  }

  /** @returns the row of a removed record */
  removed(id: number): SandboxRow | undefined {
    return this.#removed.has(id) ? this.#all.get(id) : undefined;
  }

  /** @throws NotInWorldError */
  hidden(id: number): Hidden {
    const row = this.#row(id);
    return {
      user_id: row.user_id,
      product_id: row.product_id,
      status: row.archived ? 'archived' : 'active',
      legacy: row.legacy,
      completed_at: Temporal.Instant.fromEpochMilliseconds(row.completedAt).toString(),
      in_scope: this.#isInScope(row),
      removed: this.#removed.has(id),
    };
  }

  /**
   * Completes an assessment, by default now and by a known educator. @throws SandboxRequestError when the id is in use,
   * NotInWorldError for unknown references.
   */
  add(wanted: NewAssessment = {}): DocumentedRecord {
    const { organizations, products } = this.catalogue;
    const { id, proctor_ids, product_id, organization_id, legacy = false } = wanted;
    if (id !== undefined) {
      if (this.#isInUse(id)) throw new SandboxRequestError(`Id ${id} is in use.`);
      this.#inventor.passOver(id);
    }
    const supervise = this.#supervision(proctor_ids);
    const product =
      product_id === undefined
        ? products.anyOf(this.#scope.productIds, this.#random)
        : products.require(product_id);
    const elsewhere =
      organization_id === undefined ? undefined : organizations.require(organization_id);
    const completedAt = this.#moment(wanted) ?? this.#clock.now().epochMilliseconds;
    const educator = personFor(this.#inventor, this.#scope, this.#random, wanted);
    this.#describe(educator);
    const organization = elsewhere ?? organizations.require(educator.organization_id);
    const day = this.#inventor.days.dayOf(completedAt);
    const invented = this.#inventor.results(product, day, id);
    const row = rowOf({ ...invented, educator, organization, product, day, completedAt, legacy });
    return this.#put(supervise(row)).assessment;
  }

  /**
   * Edits a record. The person's fields (names, SEID, e-mail, status) change in all records of the person, as they do
   * at the partner. @throws NotInWorldError
   */
  change(id: number, changes: Changes): DocumentedRecord {
    const { organizations, products, educators } = this.catalogue;
    let row = this.#row(id);
    // References are resolved first, so that a change that fails changes nothing.
    const { organization_id, product_id, legacy = row.legacy, proctor_ids } = changes;
    const organization =
      organization_id === undefined ? undefined : organizations.require(organization_id);
    const product = product_id === undefined ? undefined : products.require(product_id);
    const supervise = this.#supervision(proctor_ids);
    const moment = this.#moment(changes) ?? row.completedAt;
    row = { ...row, legacy };
    if (organization !== undefined) row = inOrganization(row, organization);
    if (product !== undefined) {
      const day = requireDay(row.assessment.certified_on);
      const { results } = this.#inventor.results(product, day, id);
      row = { ...row, assessment: { ...row.assessment, results }, product_id: product.id };
      row = ofProduct(row, product);
    }
    this.#put(supervise(this.#completedAt(row, moment)));
    this.#describe(described(educators.require(row.user_id), changes));
    return this.#row(id).assessment;
  }

  /** Removes a record without a trace; `restore` brings it back. */
  remove(id: number): void {
    const row = this.#row(id);
    this.#removed.add(id);
    this.#put(row);
  }

  restore(id: number): DocumentedRecord {
    const row = this.#row(id);
    this.#removed.delete(id);
    return this.#put(row).assessment;
  }

  /** Changes the day of completion (`YYYY-MM-DD`). */
  moveTo(id: number, day: string): DocumentedRecord {
    return this.change(id, { certified_on: day });
  }

  /** Damages the shown record from now on, until `mend`. */
  spoil(id: number, damage: Damage | undefined): void {
    this.#put({ ...this.#row(id), damage });
  }

  /** @throws NotInWorldError */
  mend(id: number): void {
    this.spoil(id, undefined);
  }

  /** A mass edit: every record of the organization shows the new name. */
  renameOrganization(id: number, name: string): void {
    const { organizations } = this.catalogue;
    const organization = organizations.put({ ...organizations.require(id), name });
    for (const row of this.#all.values())
      if (row.assessment.organization_id === id) this.#put(inOrganization(row, organization));
  }

  renameProduct(id: number, name: string): void {
    const { products } = this.catalogue;
    const product = products.put({ ...products.require(id), name });
    for (const row of this.#all.values())
      if (row.product_id === id) this.#put(ofProduct(row, product));
  }

  /** @throws NotInWorldError; the scope then stays the same. */
  widenScope({ organization_ids = [], product_ids = [] }: ScopeChange): void {
    const { organizations, products } = this.catalogue;
    for (const id of organization_ids) organizations.require(id);
    for (const id of product_ids) products.require(id);
    this.setScope({
      organization_ids: [...this.#scope.organizationIds, ...organization_ids],
      product_ids: [...this.#scope.productIds, ...product_ids],
    });
  }

  narrowScope({ organization_ids = [], product_ids = [] }: ScopeChange): void {
    const { organizationIds, productIds } = this.#scope;
    this.setScope({
      organization_ids: [...organizationIds].filter((id) => !organization_ids.includes(id)),
      product_ids: [...productIds].filter((id) => !product_ids.includes(id)),
    });
  }

  /** Replaces the scope; empty lists give the two provisioning errors of section 7. */
  setScope({ organization_ids, product_ids }: ScopeChange): void {
    this.#scope = {
      organizationIds: new Set(organization_ids ?? this.#scope.organizationIds),
      productIds: new Set(product_ids ?? this.#scope.productIds),
    };
    for (const row of this.#all.values()) this.#put(row);
  }

  /** Stores a row, and shows it if it is in scope and not removed. */
  #put(row: SandboxRow): SandboxRow {
    const { id } = row.assessment;
    this.#all.set(id, row);
    const shown = this.rows.all.get(id);
    const isVisible = !this.#removed.has(id) && this.#isInScope(row);
    if (isVisible && shown !== row) this.rows.put(row);
    else if (!isVisible && shown !== undefined) this.rows.delete(id);
    return row;
  }

  #isInScope({ assessment, product_id }: SandboxRow): boolean {
    const { organizationIds, productIds } = this.#scope;
    return organizationIds.has(assessment.organization_id) && productIds.has(product_id);
  }

  #isInUse(id: number): boolean {
    const isOf = ({ assessment: { results } }: SandboxRow) =>
      results.some(({ assessment_id }) => assessment_id === id);
    return this.#all.has(id) || [...this.#all.values()].some(isOf);
  }

  #row(id: number): SandboxRow {
    const row = this.#all.get(id);
    if (row === undefined) throw new NotInWorldError('assessment', id);
    return row;
  }

  /** The person, in all of the person's records. */
  #describe(educator: Educator): void {
    const { educators } = this.catalogue;
    const before = educators.get(educator.id);
    if (before === educator) return;
    const { id, archived } = educators.put(educator);
    for (const row of this.#all.values())
      if (row.user_id === id)
        this.#put({ ...row, archived, assessment: { ...row.assessment, ...fieldsOf(educator) } });
  }

  /** The days between parts and completion stay the same. */
  #completedAt(row: SandboxRow, completedAt: number): SandboxRow {
    if (completedAt === row.completedAt) return row;
    const { certified_on, results } = row.assessment;
    const moved = this.#inventor.days.dayOf(completedAt) - requireDay(certified_on);
    const later = (day: string) => writeDay(requireDay(day) + moved);
    return {
      ...row,
      completedAt,
      assessment: {
        ...row.assessment,
        certified_on: later(certified_on),
        results: results.map((part) => ({ ...part, certified_on: later(part.certified_on) })),
      },
    };
  }

  /** Assigns proctors to the entries of `results`; the last one supervises the rest. @throws NotInWorldError */
  #supervision(ids: readonly number[] | undefined): (row: SandboxRow) => SandboxRow {
    const proctors = ids?.map((id) => this.catalogue.proctors.require(id)) ?? [];
    return ({ assessment, ...row }) => {
      const results = assessment.results.map((part, index) => {
        const proctor = proctors[index] ?? proctors.at(-1);
        return proctor ? { ...part, proctor_id: proctor.id, proctor_name: proctor.name } : part;
      });
      return { ...row, assessment: { ...assessment, results } };
    };
  }

  #moment(wanted: Changes): number | undefined {
    if (wanted.completed_at !== undefined) {
      const instant = Date.parse(wanted.completed_at);
      if (Number.isNaN(instant)) throw new SandboxRequestError('completed_at is not an instant.');
      return instant;
    }
    if (wanted.certified_on === undefined) return undefined;
    return inventMoment(this.#random, this.#inventor.days, requireDay(wanted.certified_on));
  }
}

function inOrganization(
  { assessment, ...row }: SandboxRow,
  { id, name }: Organization,
): SandboxRow {
  const of = { organization_id: id, organization_name: name };
  return { ...row, assessment: { ...assessment, ...of } };
}

/** Its name, also in the entry that describes an assessment without parts. */
function ofProduct({ assessment, ...row }: SandboxRow, { name, parts }: Product): SandboxRow {
  const results =
    parts.length > 0
      ? assessment.results
      : assessment.results.map((entry) => ({ ...entry, assessment_name: name }));
  return { ...row, assessment: { ...assessment, assessment_name: name, results } };
}
