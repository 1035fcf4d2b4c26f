import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe } from 'vitest';
import { systemClock } from '../../../lambda/clock.ts';
import type { OpsLedger } from '../../../lambda/commands/ops-ledger.ts';
import {
  type Certification,
  type Sighting,
  withdrawal,
} from '../../../lambda/decisions/compare.ts';
import { type Lease, noLease, type StateChanges } from '../../../lambda/decisions/state.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import type { OwedEvent } from '../../../lambda/events/owed-event.ts';
import type { Journal } from '../../../lambda/ports/journal.ts';
import type { Ledger, WaitingEvent } from '../../../lambda/ports/ledger.ts';
import {
  type Ledgers,
  type LedgersOf,
  ledgersIn,
  ledgersInDynamoDb,
} from '../../scaffold/ledgers.ts';
import { MemoryLedger } from '../../scaffold/memory-ledger.ts';
import { sightingsOf } from '../../scaffold/sightings.ts';
import { eventOf } from '../events/announced.ts';

export const now = Temporal.Instant.from('2026-11-21T08:00:00Z');
export const later = now.add({ minutes: 1 });
const salt = 'salt-of-the-tests';

/** The one change of an assessment against known certifications. It must exist. */
export function onlyChange(
  read: Assessment,
  known: ReadonlyMap<number, Certification> = new Map(),
): Sighting {
  const [change] = sightingsOf([read], known, salt);
  if (change === undefined) throw new Error('nothing changed');
  return change;
}

export function changesOf(
  read: readonly Assessment[],
  known: ReadonlyMap<number, Certification> = new Map(),
): readonly Sighting[] {
  return sightingsOf(read, known, salt);
}

/** A ledger, with the calls that tests repeat. */
export class LedgerInUse {
  readonly ledger: Ledger;
  readonly opsLedger: OpsLedger;
  readonly integration: string;

  constructor({ ledger, opsLedger }: Ledgers, integration: string) {
    this.ledger = ledger;
    this.opsLedger = opsLedger;
    this.integration = integration;
  }

  commit(change: Sighting, at = now, destiny: 'pending' | 'held' = 'pending') {
    const { kind, revision, changed } = change;
    const type = `certification.${kind}` as const;
    const of = { integration: this.integration, type, revision, changed, time: at };
    const event = eventOf(change.assessment, of);
    return this.ledger.commit(change, event, at, destiny);
  }

  /** Commits a new certification, which must be new. */
  async create(read: Assessment, at = now, destiny: 'pending' | 'held' = 'pending') {
    const owed = await this.commit(onlyChange(read), at, destiny);
    if (typeof owed !== 'object') throw new Error('it was known');
    return owed;
  }

  /** Commits a change, which must be one. */
  async update(after: Assessment, at = later, destiny: 'pending' | 'held' = 'pending') {
    const known = await this.ledger.known([after.id]);
    const owed = await this.commit(onlyChange(after, known), at, destiny);
    if (typeof owed !== 'object') throw new Error('another revision was there, or it is undone');
    return owed;
  }

  /** Commits a withdrawal. */
  async withdraw(id: number, destiny: 'pending' | 'held' = 'pending') {
    const before = (await this.ledger.known([id])).get(id);
    if (before === undefined) throw new Error('it is not known');
    const { organization_id, assessment_name, day: certified_on } = before;
    const event = eventOf(
      { id, organization_id, assessment_name, certified_on },
      {
        ...{ type: 'certification.withdrawn', time: later },
        ...{ integration: this.integration, revision: before.revision + 1 },
      },
    );
    return await this.ledger.commit(withdrawal(before), event, later, destiny);
  }

  async leftovers(owing: 'event' | 'digest' = 'event'): Promise<OwedEvent[]> {
    return (await Array.fromAsync(this.ledger.leftovers(owing))).flatMap(({ owed }) => owed);
  }

  async waitingForOps(waiting: 'held' | 'undeliverable'): Promise<WaitingEvent[]> {
    return (await Array.fromAsync(this.ledger.waitingForOps(waiting))).flatMap(({ owed }) => owed);
  }

  /** Ends a tick: it saves its results and its heartbeat, and gives the lease back. */
  end(lease: Lease, at: Temporal.Instant, changes: StateChanges): Promise<boolean> {
    return this.ledger.saveState({ ...changes, heartbeat: at.toString(), ...noLease }, lease);
  }

  park(owed: OwedEvent) {
    return this.ledger.park([{ owed, code: 'InvalidParameter', forGood: true }]);
  }
}

/**
 * Runs the same tests over the ledger in DynamoDB and the one in memory. So results of tests and of
 * the simulation over one hold for the other.
 */
export function describeLedgers(what: string, tests: (used: () => LedgerInUse) => void): void {
  describe.each(['DynamoDB', 'memory'] as const)(`${what}, in %s`, (place) => {
    const ledgersOf = place === 'DynamoDB' ? ledgersInDynamoDb().of : inMemory;
    let used: LedgerInUse;
    let integrations = 0;
    beforeEach(() => {
      integrations += 1;
      const integration = `district-${integrations}`;
      used = new LedgerInUse(ledgersOf(integration, systemClock, silent), integration);
    });
    tests(() => used);
  });
}

const inMemory: LedgersOf = () => ledgersIn(new MemoryLedger());

const silent: Journal = {
  warn: (what) => {
    throw new Error(`the ledger warns: ${what}`);
  },
};
