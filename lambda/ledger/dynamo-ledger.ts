import type { Temporal } from 'temporal-polyfill';
import type { DayEntry } from '../detection/calendar.ts';
import type { Change, Sighting } from '../detection/compare.ts';
import type { CertificationEvent } from '../events/event.ts';
import type { Refusal } from '../ports/announcer.ts';
import type { Journal } from '../ports/journal.ts';
import type { Committed, Ledger, OutboxEntry } from '../ports/ledger.ts';
import type { Lease, StateChanges } from '../ports/state.ts';
import { CalendarMonths } from './calendar-months.ts';
import { Certifications } from './certifications.ts';
import { IntegrationState } from './integration-state.ts';
import { Outboxes } from './outboxes.ts';
import type { Table } from './table.ts';

/**
 * The ledger of one integration.
 *
 * Every write is of a single item, and conditional: of two ticks that meet, one finds its condition
 * failed and leaves the work to the other.
 */
export class DynamoLedger implements Ledger {
  readonly #state: IntegrationState;
  readonly #certifications: Certifications;
  readonly #calendar: CalendarMonths;
  readonly #outboxes: Outboxes;

  constructor(table: Table, integration: string, journal: Journal) {
    this.#state = new IntegrationState(table, integration);
    this.#certifications = new Certifications(table, integration, journal);
    this.#calendar = new CalendarMonths(table, integration);
    this.#outboxes = new Outboxes(table, integration);
  }

  state() {
    return this.#state.read();
  }

  recordedState() {
    return this.#state.readRecorded();
  }

  takeLease(lease: Lease, now: Temporal.Instant) {
    return this.#state.takeLease(lease, now);
  }

  async completeQuietly(now: Temporal.Instant) {
    await this.#state.save({ heartbeat: now.toString() });
  }

  complete(lease: Lease, now: Temporal.Instant, changes: StateChanges) {
    return this.#state.complete(lease, now, changes);
  }

  saveState(changes: StateChanges, lease?: Lease) {
    return this.#state.save(changes, lease);
  }

  giveBackLease(lease: Lease) {
    return this.#state.giveBackLease(lease);
  }

  addYears(years: readonly number[]) {
    return this.#state.addYears(years);
  }

  known(ids: readonly number[]) {
    return this.#certifications.known(ids);
  }

  lives(ids: readonly number[]) {
    return this.#certifications.lives(ids);
  }

  knownOfDay(day: string) {
    return this.#certifications.knownOfDay(day);
  }

  recordSilently(sightings: readonly Sighting[], now: Temporal.Instant) {
    return this.#certifications.recordSilently(sightings, now);
  }

  async commit(
    change: Change,
    event: CertificationEvent,
    now: Temporal.Instant,
    destiny: 'pending' | 'held',
  ): Promise<Committed | 'undone' | undefined> {
    const filed = await this.#certifications.commit(change, event, now, destiny);
    if (filed === 'undone') return filed;
    if (filed?.isMisfiled) await this.#outboxes.refile(filed.committed.certificationId);
    return filed?.committed;
  }

  calendar(years: readonly number[]) {
    return this.#calendar.read(years);
  }

  saveDays(entries: ReadonlyMap<string, DayEntry>) {
    return this.#calendar.save(entries);
  }

  addToDays(deltas: ReadonlyMap<string, number>) {
    return this.#calendar.add(deltas);
  }

  leftovers(owing: 'event' | 'digest') {
    return this.#outboxes.waiting(owing === 'event' ? 'pending' : 'digest');
  }

  settle(delivered: readonly OutboxEntry[], rest: 'nothing' | 'digest') {
    return this.#outboxes.settle(delivered, rest);
  }

  park(refused: readonly Refusal[]) {
    return this.#outboxes.park(refused);
  }

  kept(waiting: 'held' | 'undeliverable') {
    return this.#outboxes.kept(waiting);
  }

  countKept(waiting: 'held' | 'undeliverable') {
    return this.#outboxes.countKept(waiting);
  }
}
