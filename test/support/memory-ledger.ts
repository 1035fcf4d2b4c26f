import type { Temporal } from 'temporal-polyfill';
import type { DayEntry } from '../../lambda/detection/calendar.ts';
import {
  type Certification,
  type Change,
  idOf,
  type Sighting,
} from '../../lambda/detection/compare.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import type { OwedEvent } from '../../lambda/events/owed-event.ts';
import type {
  BackOff,
  Baseline,
  DayCertification,
  Lease,
  Ledger,
  Leftovers,
  Life,
  Revision,
  State,
  StateChanges,
  Undelivered,
} from '../../lambda/ports.ts';

interface Entry {
  owed: OwedEvent;
  held: boolean;
}

interface Item {
  certification: Certification;
  history: Revision[];
  outbox: Map<number, Entry>;
  owedSince: number;
}

/**
 * The ledger in memory, for the simulation: thousands of runs are too many for a database. The same
 * suite of tests holds for it and for the one in DynamoDB.
 */
export class MemoryLedger implements Ledger {
  readonly items = new Map<number, Item>();
  readonly days = new Map<string, DayEntry>();
  #state: State | undefined;
  #owner: string | undefined;
  #leasedUntil = 0;
  #sequence = 0;

  async state(): Promise<State> {
    this.#state ??= {
      salt: 'salt',
      baseline: { status: 'none' },
      expected: 0,
      unexplained: 0,
      years: [],
      recentAuditAt: 0,
      historyAuditAt: 0,
      paused: false,
      reported: [],
    };
    return this.#state;
  }

  async takeLease(lease: Lease, now: Temporal.Instant): Promise<State | undefined> {
    const state = await this.state();
    const isTaken = this.#owner !== undefined && this.#owner !== lease.owner;
    if (isTaken && this.#leasedUntil >= now.epochMilliseconds) return undefined;
    this.#owner = lease.owner;
    this.#leasedUntil = lease.until.epochMilliseconds;
    this.#state = { ...state, dirtySince: state.dirtySince ?? now };
    return state;
  }

  async completeQuietly(now: Temporal.Instant): Promise<void> {
    this.#state = { ...(await this.state()), heartbeat: now.toString() };
  }

  async complete(lease: Lease, now: Temporal.Instant, changes: StateChanges): Promise<boolean> {
    if (this.#owner !== lease.owner) return false;
    const { dirty, bookmark, ...learned } = changes;
    const { dirtySince, bookmark: marked, ...state } = await this.state();
    const kept = bookmark === undefined ? marked : (bookmark ?? undefined);
    this.#state = {
      ...state,
      ...(kept && { bookmark: kept }),
      ...Object.fromEntries(Object.entries(learned).filter(([, value]) => value !== undefined)),
      heartbeat: now.toString(),
      ...(dirty && dirtySince && { dirtySince }),
    };
    if (learned.collapsedFrom === 0) {
      const { collapsedFrom: _, ...recovered } = this.#state;
      this.#state = recovered;
    }
    this.#owner = undefined;
    return true;
  }

  async giveBackLease(lease: Lease): Promise<void> {
    if (this.#owner === lease.owner) this.#owner = undefined;
  }

  async saveBaseline(baseline: Baseline): Promise<void> {
    this.#state = { ...(await this.state()), baseline };
  }

  async backOff(backOff: BackOff | undefined): Promise<void> {
    const { backOff: _, ...state } = await this.state();
    this.#state = { ...state, ...(backOff && { backOff }) };
  }

  async known(ids: readonly number[]): Promise<ReadonlyMap<number, Certification>> {
    return new Map(
      ids.flatMap((id) => {
        const item = this.items.get(id);
        return item === undefined ? [] : [[id, item.certification] as const];
      }),
    );
  }

  async lives(ids: readonly number[]): Promise<ReadonlyMap<number, Life>> {
    return new Map(
      ids.flatMap((id) => {
        const item = this.items.get(id);
        return item === undefined
          ? []
          : [[id, { ...item, undelivered: undeliveredOf(item) }] as const];
      }),
    );
  }

  async knownOfDay(day: string): Promise<ReadonlyMap<number, DayCertification>> {
    const known = new Map<number, DayCertification>();
    for (const { certification } of this.items.values()) {
      const { id, fingerprint, presence } = certification;
      if (certification.day === day)
        known.set(id, { id, fingerprint: fingerprint.whole, presence });
    }
    return known;
  }

  async calendar(years: readonly number[]): Promise<ReadonlyMap<string, DayEntry>> {
    return new Map([...this.days].filter(([day]) => years.includes(Number(day.slice(0, 4)))));
  }

  async saveDays(entries: ReadonlyMap<string, DayEntry>): Promise<void> {
    for (const [day, entry] of entries) this.days.set(day, entry);
  }

  async addYears(years: readonly number[]): Promise<void> {
    const state = await this.state();
    this.#state = { ...state, years: [...new Set([...state.years, ...years])] };
  }

  async addToDays(deltas: ReadonlyMap<string, number>): Promise<void> {
    for (const [day, delta] of deltas) {
      const entry = this.days.get(day) ?? { count: 0, readAt: 0 };
      this.days.set(day, { ...entry, count: entry.count + delta });
    }
  }

  async recordSilently(sightings: readonly Sighting[], now: Temporal.Instant): Promise<void> {
    for (const sighting of sightings)
      this.items.set(sighting.assessment.id, {
        certification: certificationOf(sighting),
        history: [revisionOf(sighting, 'baseline', now)],
        outbox: new Map(),
        owedSince: 0,
      });
  }

  async commit(
    change: Change,
    event: CertificationEvent,
    now: Temporal.Instant,
    destiny: 'pending' | 'held',
  ): Promise<OwedEvent | undefined> {
    const id = idOf(change);
    const item = this.items.get(id);
    const { revision } = change;
    if ((item?.certification.revision ?? 0) !== revision - 1) return undefined;
    const owed: OwedEvent = { certificationId: id, revision, event, owes: 'event-and-digest' };
    const outbox = item?.outbox ?? new Map<number, Entry>();
    const isNew = outbox.size === 0;
    outbox.set(revision, { owed, held: destiny === 'held' });
    this.#sequence += 1;
    this.items.set(id, {
      certification: certificationOf(change),
      history: [...(item?.history ?? []), revisionOf(change, change.kind, now)].slice(-50),
      outbox,
      owedSince: isNew ? this.#sequence : (item?.owedSince ?? 0),
    });
    return owed;
  }

  async *leftovers(): AsyncGenerator<Leftovers> {
    const owing = [...this.items.values()]
      .filter(({ outbox }) => [...outbox.values()].some(({ held }) => !held))
      .sort((a, b) => a.owedSince - b.owedSince);
    const owed = owing.flatMap(({ outbox }) =>
      [...outbox.values()].filter(({ held }) => !held).map((entry) => entry.owed),
    );
    if (owed.length > 0) yield { owed, unreadable: [] };
  }

  async settle(delivered: readonly OwedEvent[], rest: 'nothing' | 'digest'): Promise<void> {
    for (const owed of delivered) {
      const outbox = this.items.get(owed.certificationId)?.outbox;
      const entry = outbox?.get(owed.revision);
      if (outbox === undefined || entry === undefined) continue;
      if (rest === 'nothing') outbox.delete(owed.revision);
      else outbox.set(owed.revision, { ...entry, owed: { ...entry.owed, owes: 'digest' } });
    }
  }

  get held(): OwedEvent[] {
    return [...this.items.values()].flatMap(({ outbox }) =>
      [...outbox.values()].filter(({ held }) => held).map(({ owed }) => owed),
    );
  }
}

function undeliveredOf({ outbox }: Item): Map<number, Undelivered> {
  return new Map(
    [...outbox].flatMap(([revision, { owed, held }]) =>
      owed.owes === 'digest' ? [] : [[revision, held ? 'held' : 'pending']],
    ),
  );
}

function revisionOf(change: Change, kind: Revision['kind'], now: Temporal.Instant): Revision {
  const changed = change.kind === 'withdrawn' ? [] : change.changed;
  return { revision: change.revision, kind, at: now.toString(), changed };
}

function certificationOf(change: Change): Certification {
  if (change.kind === 'withdrawn')
    return { ...change.before, revision: change.revision, presence: 'withdrawn' };
  const { assessment, fingerprint, revision } = change;
  const { id, certified_on, organization_id, assessment_name } = assessment;
  return {
    id,
    day: certified_on,
    fingerprint,
    revision,
    presence: 'present',
    organization_id,
    assessment_name,
  };
}
