import type { DocumentedRecord } from '../documented-record.ts';
import type { Catalogue } from './catalogue.ts';
import { FieldColumn } from './column.ts';
import { DayIndex } from './day-index.ts';
import { type DayNumber, writeDay, type ZoneDays } from './zone-days.ts';

export interface NewPart {
  /** Undefined for the only entry of an assessment without parts, which describes the assessment itself. */
  readonly id: number | undefined;
  readonly day: DayNumber;
  /** The position in the catalogue. */
  readonly proctor: number;
}

/** A record before it is stored. Everything but the id refers to positions in the catalogue. */
export interface NewRecord {
  readonly id: number;
  readonly educator: number;
  readonly organization: number;
  readonly product: number;
  /** Epoch milliseconds; `certified_on` is its date in the partner's zone. */
  readonly completedAt: number;
  readonly legacy: boolean;
  readonly parts: readonly NewPart[];
}

/** Organization and product ids that the integration may read (docs/partner.md, 1). */
export interface Scope {
  readonly organizationIds: ReadonlySet<number>;
  readonly productIds: ReadonlySet<number>;
}

/**
 * All records, as columns. A record gets its API shape only when it is answered. The day index has only the records
 * that the integration sees, so scope and removal cost a query nothing.
 */
export class Records {
  readonly catalogue: Catalogue;
  readonly days: ZoneDays;
  readonly visible: DayIndex;
  /** Grows with every change that an answer may show. */
  version = 0;
  scope: Scope;

  readonly #id = FieldColumn.wide();
  readonly #educator = FieldColumn.whole();
  readonly #organization = FieldColumn.whole();
  readonly #product = FieldColumn.whole();
  readonly #completedAt = FieldColumn.wide();
  readonly #day = FieldColumn.whole();
  readonly #legacy = FieldColumn.small();
  readonly #removed = FieldColumn.small();
  readonly #partsFrom = FieldColumn.whole();
  readonly #partsCount = FieldColumn.small();
  readonly #partId = FieldColumn.wide();
  readonly #partDay = FieldColumn.whole();
  readonly #partProctor = FieldColumn.whole();
  readonly #slots = new Map<number, number>();

  constructor(catalogue: Catalogue, days: ZoneDays, scope: Scope) {
    this.catalogue = catalogue;
    this.days = days;
    this.scope = scope;
    this.visible = new DayIndex((slot) => this.#id.get(slot));
  }

  add(record: NewRecord): number {
    const slot = this.#id.push(record.id);
    const day = this.days.dayOf(record.completedAt);
    this.#educator.push(record.educator);
    this.#organization.push(record.organization);
    this.#product.push(record.product);
    this.#completedAt.push(record.completedAt);
    this.#day.push(day);
    this.#legacy.push(record.legacy ? 1 : 0);
    this.#removed.push(0);
    this.#partsFrom.push(0);
    this.#partsCount.push(0);
    this.#slots.set(record.id, slot);
    this.setParts(slot, record.parts);
    if (this.isVisible(slot)) this.visible.add(slot, day);
    this.version++;
    return slot;
  }

  /** Runs a change that may move the record to another day, or change whether it is visible. */
  revise(slot: number, change: () => void): void {
    const day = this.#day.get(slot);
    if (this.isVisible(slot)) this.visible.remove(slot, day);
    change();
    if (this.isVisible(slot)) this.visible.add(slot, this.#day.get(slot));
    this.version++;
  }

  setRemoved(slot: number, removed: boolean): void {
    this.revise(slot, () => this.#removed.set(slot, removed ? 1 : 0));
  }

  /** The days between parts and completion stay the same. */
  setCompletedAt(slot: number, instant: number): void {
    this.revise(slot, () => {
      const moved = this.days.dayOf(instant) - this.#day.get(slot);
      this.#completedAt.set(slot, instant);
      this.#day.set(slot, this.#day.get(slot) + moved);
      const from = this.#partsFrom.get(slot);
      for (let part = from; part < from + this.#partsCount.get(slot); part++) {
        this.#partDay.set(part, this.#partDay.get(part) + moved);
      }
    });
  }

  setOrganization(slot: number, position: number): void {
    this.revise(slot, () => this.#organization.set(slot, position));
  }

  setProduct(slot: number, position: number, parts: readonly NewPart[]): void {
    this.revise(slot, () => {
      this.#product.set(slot, position);
      this.setParts(slot, parts);
    });
  }

  setLegacy(slot: number, legacy: boolean): void {
    this.revise(slot, () => this.#legacy.set(slot, legacy ? 1 : 0));
  }

  setParts(slot: number, parts: readonly NewPart[]): void {
    this.#partsFrom.set(slot, this.#partId.length);
    this.#partsCount.set(slot, parts.length);
    for (const part of parts) {
      this.#partId.push(part.id ?? this.#id.get(slot));
      this.#partDay.push(part.day);
      this.#partProctor.push(part.proctor);
    }
    this.version++;
  }

  /** The last proctor supervises the remaining entries of `results`. */
  assignProctors(slot: number, positions: readonly number[]): void {
    const from = this.#partsFrom.get(slot);
    for (let part = 0; part < this.#partsCount.get(slot); part++) {
      this.#partProctor.set(from + part, positions[part] ?? positions.at(-1) ?? 0);
    }
    this.version++;
  }

  /** Sets another scope, in one pass over all records. */
  rescope(scope: Scope): void {
    this.scope = scope;
    this.visible.clear();
    for (let slot = 0; slot < this.#id.length; slot++) {
      if (this.isVisible(slot)) this.visible.add(slot, this.#day.get(slot));
    }
    this.version++;
  }

  /** Whether the record is in scope and not removed. */
  isVisible(slot: number): boolean {
    return (
      this.#removed.get(slot) === 0 &&
      this.scope.organizationIds.has(this.organizationId(slot)) &&
      this.scope.productIds.has(this.productId(slot))
    );
  }

  /** The slot of an overall assessment, also if it is removed or out of scope. Part ids have no slot. */
  slotOf(id: number): number | undefined {
    return this.#slots.get(id);
  }

  /** The assessment of a part. It reads every part, which is slow. */
  slotOfPart(id: number): number | undefined {
    const part = this.#partId.indexOf(id);
    if (part < 0) return undefined;
    for (let slot = 0; slot < this.#id.length; slot++) {
      const from = this.#partsFrom.get(slot);
      if (part >= from && part < from + this.#partsCount.get(slot)) return slot;
    }
    return undefined;
  }

  get length(): number {
    return this.#id.length;
  }

  isRemoved(slot: number): boolean {
    return this.#removed.get(slot) === 1;
  }

  id(slot: number): number {
    return this.#id.get(slot);
  }

  day(slot: number): DayNumber {
    return this.#day.get(slot);
  }

  completedAt(slot: number): number {
    return this.#completedAt.get(slot);
  }

  isLegacy(slot: number): boolean {
    return this.#legacy.get(slot) === 1;
  }

  educator(slot: number): number {
    return this.#educator.get(slot);
  }

  product(slot: number): number {
    return this.#product.get(slot);
  }

  organizationId(slot: number): number {
    return this.catalogue.organizations.at(this.#organization.get(slot)).id;
  }

  productId(slot: number): number {
    return this.catalogue.products.at(this.#product.get(slot)).id;
  }

  /** Catalogue positions of the proctors, one per entry of `results`. */
  proctors(slot: number): number[] {
    const from = this.#partsFrom.get(slot);
    return Array.from({ length: this.#partsCount.get(slot) }, (_, part) =>
      this.#partProctor.get(from + part),
    );
  }

  firstProctor(slot: number): number {
    return this.#partProctor.get(this.#partsFrom.get(slot));
  }

  /** The record in the API's shape (docs/partner.md, 2.2 and 2.3). */
  assessment(slot: number): DocumentedRecord {
    const educator = this.catalogue.educators.at(this.#educator.get(slot));
    const organization = this.catalogue.organizations.at(this.#organization.get(slot));
    const product = this.catalogue.products.at(this.#product.get(slot));
    const from = this.#partsFrom.get(slot);
    return {
      id: this.#id.get(slot),
      seid: educator.seid,
      name: educator.name,
      first_name: educator.first_name,
      last_name: educator.last_name,
      email: educator.email,
      organization_id: organization.id,
      organization_name: organization.name,
      assessment_name: product.name,
      certified_on: writeDay(this.#day.get(slot)),
      results: this.proctors(slot).map((position, part) => {
        const proctor = this.catalogue.proctors.at(position);
        const partName = product.parts[part];
        return {
          assessment_id: this.#partId.get(from + part),
          assessment_name: partName ?? product.name,
          // A record without parts has one entry, which describes the record itself.
          certified_on: writeDay(
            partName === undefined ? this.#day.get(slot) : this.#partDay.get(from + part),
          ),
          proctor_id: proctor.id,
          proctor_name: proctor.name,
        };
      }),
    };
  }
}
