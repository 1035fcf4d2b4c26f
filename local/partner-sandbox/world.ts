import { Temporal } from 'temporal-polyfill';
import type { Clock } from '../../lambda/clock.ts';
import type { DocumentedRecord } from '../documented-record.ts';
import type { Educator, Organization, Proctor, Product } from './catalogue.ts';
import { NotInWorldError, SandboxRequestError } from './errors.ts';
import { genesis, type Inventor, inventMoment } from './genesis.ts';
import { describePerson, personFor } from './people.ts';
import { type Random, seededRandom } from './random.ts';
import type { Records, Scope } from './records.ts';
import type { Changes, Damage, Hidden, NewAssessment, ScopeChange } from './world-schema.ts';
import { requireDay, requireZone } from './zone-days.ts';

export interface WorldOptions {
  readonly seed: number;
  /** Assessments in scope; a twentieth more is invented out of scope. */
  readonly records: number;
  readonly timeZone: string;
  /** The last day of the invented history, `YYYY-MM-DD`. */
  readonly until: string;
  readonly clock: Clock;
}

interface Change {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly apply: (world: World) => unknown;
}

/** The partner's world behind the API, under the control of a test or a person. */
export class World {
  /** The parts that queries read. */
  readonly records: Records;
  readonly #options: WorldOptions;
  /**
   * The changes that the replica lacks. They are recorded from the start, since a replica may be asked for at any time.
   */
  readonly #changes: Change[] = [];
  #replica: World | undefined;
  readonly #inventor: Inventor;
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #damages = new Map<number, Damage>();

  /** @throws SandboxRequestError for an unknown time zone or an impossible day. */
  constructor(options: WorldOptions) {
    const until = requireDay(options.until);
    const created = genesis(
      seededRandom(options.seed, 'genesis'),
      options.records,
      requireZone(options.timeZone),
      until,
    );
    this.#options = options;
    this.records = created.records;
    this.#inventor = created.inventor;
    this.#random = seededRandom(options.seed, 'world');
    this.#clock = options.clock;
  }

  /**
   * This world at an earlier moment, for a replica that lags: another world of the same seed, which gets the same
   * changes in the same order. It does not go back: an earlier moment than the last one shows the last one.
   */
  asOf(epochMs: number): World {
    this.#replica ??= new World(this.#options);
    const isLater = ({ at }: Change) => at > epochMs;
    const later = this.#changes.findIndex(isLater);
    const due = this.#changes.splice(0, later < 0 ? this.#changes.length : later);
    for (const { apply } of due) {
      try {
        apply(this.#replica);
      } catch (error) {
        // Both worlds refuse the same changes.
        if (!(error instanceof NotInWorldError || error instanceof SandboxRequestError))
          throw error;
      }
    }
    return this.#replica;
  }

  /** Makes a change here at once, and later at the replica. */
  #make<Result>(apply: (world: World) => Result): Result {
    this.#changes.push({ at: this.#clock.now().epochMilliseconds, apply });
    return apply(this);
  }

  get timeZone(): string {
    return this.records.days.timeZone;
  }

  get scope(): Scope {
    return this.records.scope;
  }

  /** The number of assessments that the integration can see now. */
  get count(): number {
    return this.records.visible.total;
  }

  get organizations(): readonly Organization[] {
    return [...this.records.catalogue.organizations];
  }

  get products(): readonly Product[] {
    return [...this.records.catalogue.products];
  }

  get proctors(): Iterable<Proctor> {
    return this.records.catalogue.proctors;
  }

  get educators(): Iterable<Educator> {
    return this.records.catalogue.educators;
  }

  /** Everything the integration can see, oldest day first and by id within a day. */
  *assessments(): Generator<DocumentedRecord> {
    const { visible } = this.records;
    for (const day of visible.daysBetween(-Infinity, Infinity)) {
      for (const slot of visible.on(day)) yield this.records.assessment(slot);
    }
  }

  /** @returns the record, also if it is removed or out of scope; undefined for part ids. */
  get(id: number): DocumentedRecord | undefined {
    const slot = this.records.slotOf(id);
    return slot === undefined ? undefined : this.records.assessment(slot);
  }

  /** @throws NotInWorldError */
  hidden(id: number): Hidden {
    const { records } = this;
    const slot = this.#slot(id);
    const educator = records.catalogue.educators.at(records.educator(slot));
    return {
      user_id: educator.id,
      product_id: records.productId(slot),
      status: educator.archived ? 'archived' : 'active',
      legacy: records.isLegacy(slot),
      completed_at: Temporal.Instant.fromEpochMilliseconds(records.completedAt(slot)).toString(),
      in_scope:
        this.scope.organizationIds.has(records.organizationId(slot)) &&
        this.scope.productIds.has(records.productId(slot)),
      removed: records.isRemoved(slot),
    };
  }

  /**
   * Completes an assessment, by default now and by a known educator. @throws SandboxRequestError when the id is in use,
   * NotInWorldError for unknown references.
   */
  add(wanted: NewAssessment = {}): DocumentedRecord {
    const now = this.#clock.now().epochMilliseconds;
    return this.#make((world) => world.#add(wanted, now));
  }

  #add(wanted: NewAssessment, now: number): DocumentedRecord {
    const { records } = this;
    const { catalogue } = records;
    const proctors = wanted.proctor_ids?.map((id) => catalogue.proctors.require(id));
    if (wanted.id !== undefined) {
      if (records.slotOf(wanted.id) !== undefined || records.slotOfPart(wanted.id) !== undefined) {
        throw new SandboxRequestError(`Id ${wanted.id} is in use.`);
      }
      this.#inventor.ids.passOver(wanted.id);
    }
    const product =
      wanted.product_id === undefined
        ? catalogue.products.anyOf(this.scope.productIds, this.#random)
        : catalogue.products.require(wanted.product_id);
    if (wanted.organization_id !== undefined)
      catalogue.organizations.require(wanted.organization_id);
    const completedAt = this.#moment(wanted) ?? now;
    const educator = personFor(records, this.#inventor, this.#random, wanted);
    const parts = this.#inventor.parts(product, records.days.dayOf(completedAt));
    const slot = records.add({
      id: wanted.id ?? this.#inventor.ids.take(),
      educator,
      organization: catalogue.organizations.require(
        wanted.organization_id ?? catalogue.educators.at(educator).organization_id,
      ),
      product,
      completedAt,
      legacy: wanted.legacy ?? false,
      parts,
    });
    if (proctors !== undefined) records.assignProctors(slot, proctors);
    return records.assessment(slot);
  }

  /**
   * Edits a record. The person's fields (names, SEID, e-mail, status) change in all records of the person, as they do
   * at the partner. @throws NotInWorldError
   */
  change(id: number, changes: Changes): DocumentedRecord {
    return this.#make((world) => world.#change(id, changes));
  }

  #change(id: number, changes: Changes): DocumentedRecord {
    const { records } = this;
    const { catalogue } = records;
    const slot = this.#slot(id);
    // References are resolved first, so that a change that fails changes nothing.
    const { organization_id, product_id, legacy, proctor_ids } = changes;
    const organization =
      organization_id === undefined ? undefined : catalogue.organizations.require(organization_id);
    const product = product_id === undefined ? undefined : catalogue.products.require(product_id);
    const proctors = proctor_ids?.map((proctor) => catalogue.proctors.require(proctor));
    const moment = this.#moment(changes);
    if (organization !== undefined) records.setOrganization(slot, organization);
    if (product !== undefined) {
      records.setProduct(slot, product, this.#inventor.parts(product, records.day(slot)));
    }
    if (legacy !== undefined) records.setLegacy(slot, legacy);
    if (moment !== undefined) records.setCompletedAt(slot, moment);
    if (proctors !== undefined) records.assignProctors(slot, proctors);
    describePerson(records, records.educator(slot), changes);
    return records.assessment(slot);
  }

  /** Removes a record without a trace; `restore` brings it back. */
  remove(id: number): void {
    this.#make((world) => world.records.setRemoved(world.#slot(id), true));
  }

  restore(id: number): DocumentedRecord {
    return this.#make((world) => {
      const slot = world.#slot(id);
      world.records.setRemoved(slot, false);
      return world.records.assessment(slot);
    });
  }

  /** Changes the day of completion (`YYYY-MM-DD`). */
  moveTo(id: number, day: string): DocumentedRecord {
    return this.change(id, { certified_on: day });
  }

  archive(id: number): DocumentedRecord {
    return this.change(id, { status: 'archived' });
  }

  unarchive(id: number): DocumentedRecord {
    return this.change(id, { status: 'active' });
  }

  /** Damages the shown record from now on, until `mend`. */
  spoil(id: number, damage: Damage): void {
    this.#make((world) => {
      world.#slot(id);
      world.#damages.set(id, damage);
    });
  }

  /** @throws NotInWorldError */
  mend(id: number): void {
    this.#make((world) => {
      world.#slot(id);
      world.#damages.delete(id);
    });
  }

  damage(id: number): Damage | undefined {
    return this.#damages.get(id);
  }

  /** A mass edit: every record of the organization shows the new name. */
  renameOrganization(id: number, name: string): void {
    this.#make(({ records }) => {
      const { organizations } = records.catalogue;
      organizations.at(organizations.require(id)).name = name;
      records.version++;
    });
  }

  renameProduct(id: number, name: string): void {
    this.#make(({ records }) => {
      const { products, ranks } = records.catalogue;
      const position = products.require(id);
      products.at(position).name = name;
      ranks.product.forget(position);
      records.version++;
    });
  }

  /** @throws NotInWorldError; the scope then stays the same. */
  widenScope({ organization_ids = [], product_ids = [] }: ScopeChange): void {
    this.#make(({ records, scope }) => {
      const { organizations, products } = records.catalogue;
      for (const id of organization_ids) organizations.require(id);
      for (const id of product_ids) products.require(id);
      records.rescope({
        organizationIds: new Set([...scope.organizationIds, ...organization_ids]),
        productIds: new Set([...scope.productIds, ...product_ids]),
      });
    });
  }

  narrowScope({ organization_ids = [], product_ids = [] }: ScopeChange): void {
    this.#make(({ records, scope }) =>
      records.rescope({
        organizationIds: without(scope.organizationIds, organization_ids),
        productIds: without(scope.productIds, product_ids),
      }),
    );
  }

  /** Replaces the scope; empty lists give the two provisioning errors of section 7. */
  setScope({ organization_ids, product_ids }: ScopeChange): void {
    this.#make(({ records, scope }) =>
      records.rescope({
        organizationIds: new Set(organization_ids ?? scope.organizationIds),
        productIds: new Set(product_ids ?? scope.productIds),
      }),
    );
  }

  #slot(id: number): number {
    const slot = this.records.slotOf(id);
    if (slot === undefined) throw new NotInWorldError('assessment', id);
    return slot;
  }

  #moment(wanted: Changes): number | undefined {
    if (wanted.completed_at !== undefined) {
      const instant = Date.parse(wanted.completed_at);
      if (Number.isNaN(instant)) throw new SandboxRequestError('completed_at is not an instant.');
      return instant;
    }
    if (wanted.certified_on === undefined) return undefined;
    return inventMoment(this.#random, this.records.days, requireDay(wanted.certified_on));
  }
}

function without(ids: ReadonlySet<number>, unwanted: readonly number[]): ReadonlySet<number> {
  return new Set([...ids].filter((id) => !unwanted.includes(id)));
}
