import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { DayEntry } from '../../lambda/decisions/calendar.ts';
import {
  type Certification,
  type Change,
  detours,
  isNothing,
  isUndone,
  type LastTold,
  type Outdated,
  toldOf,
} from '../../lambda/decisions/compare.ts';
import { nothingFound } from '../../lambda/decisions/gate.ts';
import type { Decision } from '../../lambda/decisions/history.ts';
import { leaseSeen } from '../../lambda/decisions/lease.ts';
import {
  type Lease,
  type LeasedState,
  noLease,
  type State,
  type StateChanges,
  state as stateSchema,
} from '../../lambda/decisions/state.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import type { OwedEvent } from '../../lambda/events/owed-event.ts';
import { briefName } from '../../lambda/events/sns-message.ts';
import { LeaseLostError } from '../../lambda/ledger/errors.ts';
import type { Refusal } from '../../lambda/ports/announcer.ts';
import type {
  DayCertification,
  Decided,
  Ledger,
  Life,
  OutboxEntry,
  Revision,
  WaitingEvent,
  WaitingPage,
  Waits,
  WaitsForOps,
} from '../../lambda/ports/ledger.ts';

export interface Entry {
  owed: OwedEvent;
  held: boolean;
  /** For an entry that is held or waits behind one: the last told revision. */
  told?: LastTold;
  /** The code with which SNS refused it for good. */
  undeliverable?: string;
}

/**
 * The index has an item under one place: the first, in this order, that one of its entries waits
 * for.
 */
const places = ['pending', 'digest', 'held', 'undeliverable'] as const;

const deliveredTogether = 200;
const keptTogether = 100;

/** A revision without its event's place of waiting. */
type Noted = Omit<Revision, 'waits' | 'isBehind' | 'code'>;

export interface Item {
  certification: Certification;
  /** The time of the first record, as in the history. */
  firstSeen: string;
  history: Noted[];
  outbox: Map<number, Entry>;
  /** Milliseconds since the epoch. */
  owedSince: number;
}

/** The conditions of writes. A test can leave one out and see that the loss is noticed. */
export const ledgerRules = {
  /** A commit has the revision after the item's. */
  isNext: (revision: number, before: Certification | undefined): boolean =>
    (before?.revision ?? 0) === revision - 1,
  /** One tick holds the lease, unless the lease has expired. */
  leaseSeen,
  /** A write without a condition arrives only under the lease. */
  isHeld: (owner: string | undefined, lease: Lease | undefined): boolean =>
    lease === undefined || lease.owner === owner,
  /** A commit writes its event, whether the event may go out or is held. */
  keepsEvent: (_destiny: 'pending' | 'held'): boolean => true,
  /** A change back to the last told revision empties the outbox, if all entries in it are held. */
  isUndone,
  /**
   * A tick that takes the lease may leave events behind from now on, regardless of earlier ones.
   */
  dirtySince: (now: Temporal.Instant, _before: Temporal.Instant | undefined): Temporal.Instant =>
    now,
};

export type LedgerRules = typeof ledgerRules;

/**
 * The ledger in memory, for the simulation: a database is too slow for thousands of lives. One
 * suite of tests holds this ledger and the one in DynamoDB.
 */
export class MemoryLedger implements Ledger {
  readonly items = new Map<number, Item>();
  readonly days = new Map<string, DayEntry>();
  #state: LeasedState | undefined;
  readonly #rules: LedgerRules;

  constructor(rules: LedgerRules = ledgerRules) {
    this.#rules = rules;
  }

  /** A copy whose later changes are independent. */
  copy(): MemoryLedger {
    const copy = new MemoryLedger(this.#rules);
    copy.#state = this.#state;
    for (const [id, item] of this.items)
      copy.items.set(id, { ...item, outbox: new Map(item.outbox) });
    for (const [day, entry] of this.days) copy.days.set(day, entry);
    return copy;
  }

  /** Both items of the state, as the next holder of the lease will know them. */
  get remembered(): LeasedState {
    if (this.#state === undefined) {
      const { missing: _, ...fresh } = z.decode(stateSchema, { salt: 'salt' });
      this.#state = { ...fresh, gate: nothingFound };
    }
    return this.#state;
  }

  async state(): Promise<State> {
    return this.remembered;
  }

  async recordedState(): Promise<State | undefined> {
    return this.#state;
  }

  async gate() {
    return this.remembered.gate;
  }

  async takeLease(lease: Lease, now: Temporal.Instant): Promise<LeasedState | undefined> {
    const state = this.remembered;
    const { leaseOwner = lease.owner, leaseDoubtedAt } = state;
    const seen = leaseOwner === lease.owner ? 'over' : this.#rules.leaseSeen(state, now);
    const isNoted = leaseDoubtedAt && Temporal.Instant.compare(leaseDoubtedAt, now) <= 0;
    if (seen === 'doubted' && !isNoted) this.#state = changed(state, { leaseDoubtedAt: now });
    if (seen !== 'over') return undefined;
    const dirtySince = this.#rules.dirtySince(now, state.dirtySince);
    const held = { leaseOwner: lease.owner, leaseUntil: lease.until, leaseTakenAt: now };
    const taken = { ...noLease, ...held, dirtySince, agreed: undefined };
    this.#state = changed(state, taken);
    this.#expectAgreed(state);
    return state;
  }

  /** A page and the ledger agree about a row only while nobody has changed the row. */
  #expectAgreed({ agreed = [], dirtySince }: LeasedState): void {
    if (dirtySince !== undefined) return;
    const known = [...this.items.values()].flatMap(
      ({ certification: { presence, fingerprint } }) =>
        presence === 'present' ? fingerprint.whole : [],
    );
    for (const mark of agreed)
      if (!known.some((whole) => whole.startsWith(mark)))
        throw new Error(`the ledger has nothing that is as ${mark} of the page`);
  }

  async saveState(changes: StateChanges, lease?: Lease): Promise<boolean> {
    const before = this.remembered;
    if (lease && before.leaseOwner !== lease.owner) return false;
    this.#state = changed(before, changes);
    return true;
  }

  async known(ids: readonly number[]): Promise<ReadonlyMap<number, Certification>> {
    return this.#itemsOf(ids, ({ certification, outbox }) =>
      isAllHeld(outbox) ? { ...certification, isHeld: true } : { ...certification },
    );
  }

  #itemsOf<Shown>(ids: readonly number[], show: (item: Item) => Shown): Map<number, Shown> {
    const shown = new Map<number, Shown>();
    for (const id of ids) {
      const item = this.items.get(id);
      if (item !== undefined) shown.set(id, show(item));
    }
    return shown;
  }

  async lives(ids: readonly number[]): Promise<ReadonlyMap<number, Life>> {
    return this.#itemsOf(ids, lifeOf);
  }

  async knownOfDay(day: string): Promise<ReadonlyMap<number, DayCertification>> {
    const known = new Map<number, DayCertification>();
    for (const { certification } of this.items.values()) {
      const { id, fingerprint, presence } = certification;
      if (certification.day === day) known.set(id, { fingerprint: fingerprint.whole, presence });
    }
    return known;
  }

  async calendar(years: Iterable<number>): Promise<ReadonlyMap<string, DayEntry>> {
    const asked = new Set(years);
    return new Map([...this.days].filter(([day]) => asked.has(Number(day.slice(0, 4)))));
  }

  #arrive(lease: Lease | undefined): void {
    if (!this.#rules.isHeld(this.remembered.leaseOwner, lease)) throw new LeaseLostError();
  }

  async saveDays(entries: ReadonlyMap<string, DayEntry>, lease?: Lease): Promise<void> {
    this.#arrive(lease);
    for (const [day, entry] of entries) {
      const { missing = this.days.get(day)?.missing } = entry;
      this.days.set(day, { ...entry, ...(missing !== undefined && { missing }) });
    }
  }

  async touch(days: Iterable<string>): Promise<void> {
    const touched = [...days];
    const years = touched.map((day) => Number(day.slice(0, 4)));
    this.#state = changed(this.remembered, {
      years: new Set([...this.remembered.years, ...years]),
    });
    await this.addToDays(new Map(touched.map((day) => [day, 0])));
  }

  async addToDays(deltas: ReadonlyMap<string, number>, lease?: Lease): Promise<void> {
    this.#arrive(lease);
    for (const [day, delta] of deltas) {
      const entry = this.days.get(day) ?? { count: 0, readAt: 0 };
      this.days.set(day, { ...entry, count: entry.count + delta });
    }
  }

  async recordSilently(...[sightings, now, lease]: Parameters<Ledger['recordSilently']>) {
    this.#arrive(lease);
    for (const sighting of sightings)
      this.items.set(sighting.assessment.id, {
        certification: certificationOf(sighting),
        firstSeen: now.toString(),
        history: [revisionOf(sighting, 'baseline', now)],
        outbox: new Map(),
        owedSince: 0,
      });
    return sightings.length;
  }

  async rehash(outdated: readonly Outdated[]): Promise<void> {
    for (const { before, fingerprint } of outdated) {
      const item = this.items.get(before.id);
      const { certification: now } = item ?? {};
      if (item && now?.revision === before.revision && now.fingerprint === before.fingerprint)
        item.certification = { ...now, fingerprint };
    }
  }

  async commit(...[change, event, now, destiny]: Parameters<Ledger['commit']>) {
    const id = change.id;
    const item = this.items.get(id);
    const { revision } = change;
    if (!this.#rules.isNext(revision, item?.certification)) return undefined;
    if (item && change.before?.isHeld && this.#undo(item, change, event, now))
      return 'undone' as const;
    const owed: OwedEvent = { certificationId: id, revision, event, owes: 'event-and-digest' };
    const outbox = item?.outbox ?? new Map<number, Entry>();
    const behind = behindOf(outbox);
    const isNew = outbox.size === 0;
    const told = toldOf(change.before);
    if (this.#rules.keepsEvent(destiny))
      outbox.set(revision, {
        owed,
        held: destiny === 'held',
        ...((destiny === 'held' || change.before?.isHeld) && { told }),
      });
    this.items.set(id, {
      certification: certificationOf(change),
      firstSeen: item?.firstSeen ?? now.toString(),
      history: [
        ...(item?.history ?? []),
        revisionOf(change, change.kind, now, { late: event.data.late }),
      ].slice(-50),
      outbox,
      owedSince: isNew ? now.epochMilliseconds : (item?.owedSince ?? 0),
    });
    return { ...owed, ...(behind && { behind }) };
  }

  #undo(item: Item, change: Change, event: CertificationEvent, now: Temporal.Instant): boolean {
    const { outbox } = item;
    const told = isAllHeld(outbox) ? [...outbox].sort(([a], [b]) => a - b)[0]?.[1].told : undefined;
    if (told === undefined || !this.#rules.isUndone(told, change)) return false;
    const isUntold = change.kind === 'withdrawn' && isNothing(told);
    item.certification = { ...certificationOf(change), ...(isUntold && { isUntold }) };
    item.history = [
      ...item.history.map((one) =>
        outbox.has(one.revision) ? ({ ...one, undone: true } as const) : one,
      ),
      { ...revisionOf(change, change.kind, now, { late: event.data.late }), undone: true } as const,
    ].slice(-50);
    outbox.clear();
    return true;
  }

  leftovers(owing: 'event' | 'digest'): AsyncGenerator<WaitingPage> {
    const place = owing === 'event' ? 'pending' : 'digest';
    return this.#pages(place, ['pending', 'digest'], deliveredTogether);
  }

  async *waitingForOps(waiting: WaitsForOps, after?: string): AsyncGenerator<WaitingPage> {
    const [begun, since = '', id] = after?.split('/') ?? [];
    const first = places.findIndex((place) => after?.startsWith(`${place}/`));
    for (const place of places.slice(Math.max(0, first))) {
      const start = { owedSince: Date.parse(since), id: Number(id) };
      yield* this.#pages(place, [waiting], keptTogether, place === begun ? start : undefined);
    }
  }

  async countWaitingForOps(waiting: WaitsForOps): Promise<number> {
    return this.filed(waiting).length;
  }

  async settle(delivered: readonly OutboxEntry[], rest: 'nothing' | 'digest'): Promise<void> {
    for (const one of delivered)
      this.#change(one, ({ owed, ...entry }) =>
        rest === 'nothing' ? undefined : { ...entry, owed: { ...owed, owes: 'digest' } },
      );
  }

  async park(refused: readonly Refusal[]): Promise<void> {
    for (const { owed, code } of refused)
      this.#change(owed, (entry) => ({ ...entry, undeliverable: code }));
  }

  async decide(...asked: Parameters<Ledger['decide']>): Promise<Decided> {
    const [certificationId, waits, decision, choose, now] = asked;
    const item = this.items.get(certificationId);
    if (item === undefined) return { done: [], behind: 0, freed: 0, undone: 0 };
    const { outbox, certification } = item;
    const all: WaitingEvent[] = [];
    let behind = 0;
    let isBlocked = false;
    for (const event of eventsOf(outbox, [waits])) {
      if (!choose(event)) isBlocked ||= outbox.get(event.revision)?.held === true;
      else if (isBlocked && waits === 'held' && decision !== 'discarded') behind += 1;
      else all.push(event);
    }
    const before = waitsOf(outbox);
    for (const { revision } of all) decideAbout(item, revision, decision, now);
    const released = [...waitsOf(outbox)].flatMap(([revision, wait]) =>
      wait !== 'held' && before.get(revision) === 'held'
        ? [{ revision, told: outbox.get(revision)?.told }]
        : [],
    );
    const isLast = released.at(-1)?.revision === certification.revision;
    const undone = detours(released, isLast ? toldOf(certification) : undefined);
    for (const revision of undone) outbox.delete(revision);
    item.history = item.history.map((one) =>
      undone.has(one.revision) ? ({ ...one, undone: true } as const) : one,
    );
    const decided = new Set(all.map(({ revision }) => revision));
    const freed = released.filter(
      ({ revision }) => !decided.has(revision) && !undone.has(revision),
    ).length;
    const done = all.flatMap((event) => {
      const found = item.history.find(({ revision }) => revision === event.revision)?.found;
      return undone.has(event.revision) ? [] : { ...event, ...(found?.reason && { found }) };
    });
    return { done, behind, freed, undone: undone.size };
  }

  #change(of: OutboxEntry, change: (entry: Entry) => Entry | undefined): void {
    const outbox = this.items.get(of.certificationId)?.outbox;
    const entry = outbox?.get(of.revision);
    if (outbox === undefined || entry === undefined) return;
    const after = change(entry);
    if (after === undefined) outbox.delete(of.revision);
    else outbox.set(of.revision, after);
  }

  /** @returns `false` if the condition did not hold: then nothing is changed */
  steer(isSo: (state: State) => boolean, changes: StateChanges): boolean {
    if (this.#state === undefined || !isSo(this.#state)) return false;
    this.#state = changed(this.#state, changes);
    return true;
  }

  get held(): OwedEvent[] {
    return [...this.items.values()].flatMap(({ outbox }) =>
      outbox.size === 0 ? [] : eventsOf(outbox, ['held']),
    );
  }

  filed(place: Waits): Item[] {
    return [...this.items.values()]
      .filter((item) => filedUnder(item) === place)
      .sort((a, b) => byOwedSince(placeOf(a), placeOf(b)));
  }

  /** Each page shows the ledger at the time of its request. */
  async *#pages(
    place: Waits,
    waits: readonly Waits[],
    together: number,
    start?: Place,
  ): AsyncGenerator<WaitingPage> {
    for (let end = start; ; ) {
      const after = end;
      const rest = this.filed(place).filter(
        (item) => after === undefined || byOwedSince(placeOf(item), after) > 0,
      );
      const page = rest.slice(0, together);
      const last = page.at(-1);
      if (last === undefined) return;
      end = placeOf(last);
      yield {
        owed: page.flatMap(({ outbox }) => eventsOf(outbox, waits)),
        unreadable: [],
        end: `${place}/${new Date(end.owedSince).toISOString()}/${end.id}`,
      };
      if (page.length < together) return;
    }
  }
}

/** The place of earlier entries that the next entry has to wait for. */
function behindOf(outbox: ReadonlyMap<number, Entry>): 'held' | 'pending' | undefined {
  const waits = [...waitsOf(outbox).values()];
  return waits.includes('held') ? 'held' : waits.find((wait) => wait === 'pending');
}

function changed(
  before: LeasedState,
  { conditions = new Map(), ...fields }: StateChanges,
): LeasedState {
  const open = new Map(before.conditions);
  for (const [name, condition] of conditions)
    if (condition === undefined) open.delete(name);
    else open.set(name, condition);
  const after = { ...before, ...fields, conditions: open };
  for (const [name, value] of Object.entries(after))
    if (value === undefined) Reflect.deleteProperty(after, name);
  return after;
}

interface Place {
  readonly owedSince: number;
  readonly id: number;
}

const placeOf = ({ owedSince, certification: { id } }: Item): Place => ({ owedSince, id });

function byOwedSince(a: Place, b: Place): number {
  return a.owedSince - b.owedSince || a.id - b.id;
}

export function lifeOf({ certification, firstSeen, history, outbox }: Item): Life {
  const waiting = waitsOf(outbox);
  return {
    certification,
    firstSeen,
    revisions: history.map((revision) => {
      const waits = waiting.get(revision.revision);
      const entry = outbox.get(revision.revision);
      return {
        ...revision,
        ...(waits && { waits }),
        ...(entry?.undeliverable !== undefined && { code: entry.undeliverable }),
        isBehind: waits === 'held' && entry?.held !== true,
      };
    }),
  };
}

/** The place of each revision. Revisions after a held one are held with it. */
function waitsOf(outbox: ReadonlyMap<number, Entry>): Map<number, Waits> {
  const waits = new Map<number, Waits>();
  let isBehindHeld = false;
  for (const [revision, { owed, held, undeliverable }] of [...outbox].sort(([a], [b]) => a - b)) {
    isBehindHeld ||= held && undeliverable === undefined;
    const published = isBehindHeld ? 'held' : 'pending';
    const undelivered = undeliverable === undefined ? published : 'undeliverable';
    waits.set(revision, owed.owes === 'digest' ? 'digest' : undelivered);
  }
  return waits;
}

function isAllHeld(outbox: ReadonlyMap<number, Entry>): boolean {
  return outbox.size > 0 && [...waitsOf(outbox).values()].every((wait) => wait === 'held');
}

/** The place under which the index has the item. */
export function filedUnder({ outbox }: Pick<Item, 'outbox'>): Waits | undefined {
  if (outbox.size === 0) return undefined;
  const found = new Set(waitsOf(outbox).values());
  return places.find((wait) => found.has(wait));
}

function eventsOf(outbox: ReadonlyMap<number, Entry>, waits: readonly Waits[]): WaitingEvent[] {
  return [...waitsOf(outbox)].flatMap(([revision, wait]) => {
    const entry = waits.includes(wait) ? outbox.get(revision) : undefined;
    if (entry === undefined) return [];
    const { owed, undeliverable: code } = entry;
    return [{ ...owed, ...(code !== undefined && { code }) }];
  });
}

function revisionOf(
  change: Change,
  kind: Noted['kind'],
  now: Temporal.Instant,
  told: { readonly late?: boolean } = {},
): Noted {
  const changed = change.kind === 'withdrawn' ? [] : change.changed;
  const { revision, found } = change;
  const noted = { revision, kind, at: now.toString(), changed, decisions: [] };
  return { ...noted, ...(found && { found }), ...told };
}

function certificationOf(change: Change): Certification {
  if (change.kind === 'withdrawn') {
    const { isHeld: _, ...before } = change.before;
    return { ...before, revision: change.revision, presence: 'withdrawn' };
  }
  const { assessment, fingerprint, revision, earlier } = change;
  const { id, certified_on, organization_id, assessment_name } = assessment;
  return {
    ...{ id, day: certified_on, fingerprint, revision, presence: 'present' },
    ...(earlier && { earlier }),
    ...{ organization_id, assessment_name: briefName(assessment_name) },
  };
}

function decideAbout(
  { outbox, history }: Item,
  revision: number,
  decision: Decision,
  now: Temporal.Instant,
): void {
  const entry = outbox.get(revision);
  if (entry === undefined) return;
  const { undeliverable: _, ...rest } = entry;
  const owes = decision === 'released-to-people' ? 'digest' : entry.owed.owes;
  if (decision === 'discarded') outbox.delete(revision);
  else outbox.set(revision, { ...rest, held: false, owed: { ...entry.owed, owes } });
  const index = history.findIndex((one) => one.revision === revision);
  const noted = history[index];
  if (noted === undefined) return;
  const note = { decision, at: now.toString() };
  history[index] = { ...noted, decisions: [...noted.decisions, note] };
}
