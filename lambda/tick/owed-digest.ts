import { Temporal } from 'temporal-polyfill';
import { digestDue } from '../delivery/digest-times.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { DigestDraft } from '../ports/announcer.ts';
import type { OutboxEntry } from '../ports/ledger.ts';
import type { DigestSchedule, State, StateChanges } from '../ports/state.ts';
import { indexLagMinutes } from './index-lag.ts';
import type { TickParts } from './parts.ts';
import type { TimeLimit } from './time-limit.ts';

/** The most that one mail tells of: what it told of is settled within the same tick. */
const mostInOneMail = 20_000;
/** What small deliveries may come to before they are noted: a write each. */
const mostFresh = 50;

/** Whether people wait for a digest that is due by now, and would not be woken by it. */
export function isDigestDue({ digest }: State, { clock, settings }: TickParts): boolean {
  return digest !== undefined && mayGoOut(digest.dueAt, clock.now(), settings);
}

function mayGoOut(
  dueAt: Temporal.Instant,
  now: Temporal.Instant,
  { alerts, timeZone }: TickParts['settings'],
): boolean {
  if (Temporal.Instant.compare(dueAt, now) > 0) return false;
  return digestDue(now, { quietHours: alerts.quietHours }, timeZone).equals(now);
}

/**
 * The digest that people are owed of what subscribers have: one mail a tick, or one of several ticks,
 * when that is asked for. An event leaves its outbox when the mail that tells of it was accepted, so a
 * crash costs a second mail, never a missing one.
 *
 * What waits for a later mail is found by the index, which lags; so the state's schedule stands until
 * a look has found nothing, long enough after the last event was left to wait.
 */
export class OwedDigest {
  readonly #parts: TickParts;
  readonly #limit: TimeLimit;
  readonly #began: Temporal.Instant;
  #schedule: DigestSchedule | undefined;
  #isScheduleNew = false;
  #draft: DigestDraft | undefined;
  /** What the draft tells of, and whose outbox says that it was delivered. */
  #noted: OutboxEntry[] = [];
  /** The same, and the outbox does not say so yet: the mail of a usual tick goes out before it need. */
  #fresh: OutboxEntry[] = [];
  /** What earlier ticks have left to wait: nothing, some, or more than one mail should tell of. */
  #found: 'nothing' | 'some' | 'more' = 'nothing';
  #goesOut: boolean | undefined;
  /** Events that a refused digest would have told of. */
  undelivered = 0;

  constructor(parts: TickParts, limit: TimeLimit) {
    this.#parts = parts;
    this.#limit = limit;
    this.#began = parts.clock.now();
  }

  /** What an earlier tick has left, which may not have come to write its schedule. */
  async inherit({ digest, dirtySince }: State): Promise<void> {
    this.#schedule = digest;
    if (digest === undefined && dirtySince !== undefined)
      this.#plan({ dueAt: this.#due(), owedAt: this.#began });
    if (this.#schedule !== undefined && this.#isOut()) this.#found = await this.#collect();
  }

  /** What subscribers have, and waits for a mail together with what they have not. */
  note(owed: readonly OwedEvent[]): void {
    if (!this.#isOut()) return;
    for (const one of owed) this.#tell(one);
    this.#noted.push(...owed.map(entryOf));
  }

  /** What this tick has delivered to subscribers. */
  async add(delivered: readonly OwedEvent[]): Promise<void> {
    if (!this.#isOut()) return this.addAtOnce(delivered);
    for (const owed of delivered) this.#tell(owed);
    this.#fresh.push(...delivered.map(entryOf));
    if (this.#fresh.length > mostFresh) await this.#noteFresh();
    if (this.#noted.length + this.#fresh.length >= mostInOneMail) await this.#sendOrWait();
  }

  /** The same, and their outboxes say so before anything else is done. Several batches may come at the same time. */
  async addAtOnce(delivered: readonly OwedEvent[]): Promise<void> {
    if (delivered.length === 0) return;
    await this.#parts.ledger.settle(delivered, 'digest');
    if (this.#isOut()) this.note(delivered);
    else this.#plan({ dueAt: this.#next(), owedAt: this.#parts.clock.now() });
  }

  /** The mail, if it is due: what was left to wait, and what this tick has delivered. */
  async send(): Promise<void> {
    if (!this.#isOut()) return;
    if (!(await this.#sendOrWait())) return;
    const now = this.#parts.clock.now();
    if (this.#found === 'more') this.#plan({ dueAt: now, owedAt: this.#schedule?.owedAt ?? now });
    else if (this.#schedule !== undefined) this.#lookAgain(this.#found, this.#schedule);
  }

  /** What the state has to keep; absent: as it was. */
  get changes(): Pick<StateChanges, 'digest'> {
    return this.#isScheduleNew ? { digest: this.#schedule } : {};
  }

  #lookAgain(found: 'nothing' | 'some', { owedAt }: DigestSchedule): void {
    const now = this.#parts.clock.now();
    const isSure = now.since(owedAt).total('minutes') >= indexLagMinutes;
    if (found === 'nothing' && isSure) this.#plan(undefined);
    else {
      const shown = this.#due(now.add({ minutes: indexLagMinutes }), 0);
      this.#plan({ dueAt: later(shown, this.#due()), owedAt });
    }
  }

  async #collect(): Promise<'nothing' | 'some' | 'more'> {
    const { ledger, journal } = this.#parts;
    let isAny = false;
    for await (const { owed, unreadable } of ledger.leftovers('digest')) {
      for (const error of unreadable) journal.warn('outbox unreadable', { error });
      const published = owed.filter(({ owes }) => owes === 'digest');
      this.note(published);
      isAny ||= published.length > 0;
      if (this.#noted.length >= mostInOneMail) return 'more';
      // The next look goes on; it is not made at once, or a long outbox would take all of every tick.
      if (this.#limit.noteIfReached()) return 'some';
    }
    return isAny ? 'some' : 'nothing';
  }

  #tell(owed: OwedEvent): void {
    this.#draft ??= this.#parts.announcer.digest();
    this.#draft.add(owed.event);
  }

  /** @returns `false` when SNS has refused it: the next tick tries again */
  async #sendOrWait(): Promise<boolean> {
    const isAccepted = await this.#send();
    const now = this.#parts.clock.now();
    if (!isAccepted) this.#plan({ dueAt: now, owedAt: now });
    return isAccepted;
  }

  async #send(): Promise<boolean> {
    if (this.#draft === undefined) return true;
    const { ledger, journal } = this.#parts;
    const outcome = await this.#draft.send();
    const told = [...this.#noted, ...this.#fresh];
    const fresh = this.#fresh;
    this.#draft = undefined;
    this.#noted = [];
    this.#fresh = [];
    if (outcome.accepted) {
      await ledger.settle(told, 'nothing');
      return true;
    }
    journal.warn('digest refused', { code: outcome.code });
    this.undelivered += told.length;
    await ledger.settle(fresh, 'digest');
    return false;
  }

  async #noteFresh(): Promise<void> {
    await this.#parts.ledger.settle(this.#fresh, 'digest');
    this.#noted.push(...this.#fresh);
    this.#fresh = [];
  }

  /** Decided once a tick: a mail that is due goes out at its end. */
  #isOut(): boolean {
    this.#goesOut ??= mayGoOut(this.#next(), this.#began, this.#parts.settings);
    return this.#goesOut;
  }

  /** When the next mail is due, given that there is something to tell. */
  #next(): Temporal.Instant {
    return earlier(this.#schedule?.dueAt ?? this.#due(), this.#due());
  }

  #due(now = this.#began, digestEvery = this.#parts.settings.alerts.digestEvery) {
    const { alerts, timeZone } = this.#parts.settings;
    return digestDue(now, { ...alerts, digestEvery }, timeZone);
  }

  #plan(schedule: DigestSchedule | undefined): void {
    this.#schedule = schedule;
    this.#isScheduleNew = true;
  }
}

function earlier(a: Temporal.Instant, b: Temporal.Instant): Temporal.Instant {
  return Temporal.Instant.compare(a, b) <= 0 ? a : b;
}

function later(a: Temporal.Instant, b: Temporal.Instant): Temporal.Instant {
  return Temporal.Instant.compare(a, b) <= 0 ? b : a;
}

const entryOf = ({ certificationId, revision }: OutboxEntry) => ({ certificationId, revision });
