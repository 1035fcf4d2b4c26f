import { isDeepStrictEqual } from 'node:util';
import type { Calendar } from '../detection/calendar.ts';
import type { Sighting } from '../detection/compare.ts';
import {
  type ConditionName,
  type Observation,
  type OpenCondition,
  type OpenConditions,
  observe,
  settle,
} from '../detection/conditions.ts';
import type { Missing } from '../detection/missing.ts';
import { isOver } from '../detection/odd-fields.ts';
import { NotifierError } from '../errors.ts';
import type { QuarantinedRecord } from '../ports/partner-reader.ts';
import type { Pause } from '../ports/state.ts';
import { conditionNotice } from './condition-notices.ts';
import { indexLagMinutes } from './index-lag.ts';
import { floodDetails } from './notices.ts';
import { OddFields } from './odd-fields.ts';
import type { TickParts } from './parts.ts';

const hindranceNames = [
  'credentials-not-set',
  'credentials-malformed',
  'secret-unreadable',
  'credentials-refused',
  'unsupported-grant',
  'token-refused-twice',
  'not-provisioned',
] as const satisfies readonly ConditionName[];

/** Whether something that people have to mend is in the way of every tick. */
export function isHindered(conditions: Partial<Record<ConditionName, number>>): boolean {
  return hindranceNames.some((name) => name in conditions);
}

const oneDay = 24 * 3_600_000;
/** Days that were found unproven again after so long are told of. */
const unprovenMs = oneDay;
/** Until an index has surely followed its table, nothing is inferred from what it does not show. */
const indexLagMs = indexLagMinutes * 60_000;
/** What the state item can hold of a notice that is owed. */
const listed = 20;
const maxLine = 200;

/**
 * Tells operations what is wrong, once when it begins and once when it is over, and keeps what it has
 * told in the state. A notice that SNS refuses is owed, and every tick tries again. Told first and
 * noted then: a crash between the two tells them twice.
 */
export class Conditions {
  readonly #parts: TickParts;
  readonly oddFields = new OddFields();
  #open = new Map<ConditionName, OpenCondition>();
  /** Certifications of which something was held before this tick held anything. */
  #heldBefore = 0;
  #isKnown = false;

  constructor(parts: TickParts) {
    this.#parts = parts;
  }

  /** As the state has them: another tick may have told since. */
  know(open: OpenConditions): void {
    this.#open = new Map(open);
    if (this.#isKnown) return;
    this.#isKnown = true;
    const held = open.get('held');
    // What operations could not be told of was not held.
    this.#heldBefore = held?.told === undefined ? 0 : held.number;
  }

  /** What lasts, and how many of whatever it counts. */
  get lasting(): Partial<Record<ConditionName, number>> {
    const lasting = [...this.#open].filter(([, { owes }]) => owes !== 'ends');
    return Object.fromEntries(lasting.map(([name, { number }]) => [name, number]));
  }

  /** Notices of earlier ticks that SNS did not accept; as long as it refuses one, not the others. */
  async tellOwed(): Promise<void> {
    for (const [name, condition] of [...this.#open])
      if (condition.owes !== undefined && !(await this.#settle(name, condition, condition))) return;
  }

  /** @returns whether operations know: `false` when SNS has refused to tell them */
  async note(name: ConditionName, observation: Observation): Promise<boolean> {
    const before = this.#open.get(name);
    return this.#settle(name, before, observe(before, observation, this.#now()));
  }

  /**
   * The tick has failed: for a reason that people have to mend, or another one that says nothing about
   * any condition. What goes wrong with telling must not hide why it failed.
   */
  async failed(failure: unknown): Promise<void> {
    const code = failure instanceof NotifierError ? failure.code : undefined;
    const name = hindranceNames.find((hindrance) => hindrance === code);
    if (name === undefined) return;
    try {
      await this.note(name, { number: 1 });
      await this.#endHindrances(name);
    } catch (error) {
      this.#parts.journal.warn('condition not told', { condition: name, error });
    }
  }

  /** The partner has answered: nothing is in the way any more. */
  answered(): Promise<void> {
    return this.#endHindrances();
  }

  /** @param learned requests a minute that the partner has answered, as far as that is known */
  async paced(isTooSlow: boolean, learned: number | undefined): Promise<void> {
    if (!isTooSlow && !this.#open.has('rate-limited')) return;
    const details = learned === undefined ? [] : [`Answered within a minute: ${learned}`];
    await this.note('rate-limited', { number: isTooSlow ? 1 : 0, details });
  }

  /** A pause that goes on for days may have been forgotten. */
  async paused(pause: Pause | undefined): Promise<void> {
    const since = pause?.since.epochMilliseconds ?? this.#now();
    const number = Math.floor((this.#now() - since) / oneDay);
    if (number > 0 || this.#open.has('paused'))
      await this.note('paused', {
        number,
        since,
        details: pause ? [`Reason: ${pause.reason}`] : [],
      });
  }

  /** Too many are missing to be withdrawn, for so long that it is no passing lag; or they have gone and can be had all the same. */
  async missing(missing: Missing | undefined): Promise<void> {
    const { tooManySince, total = 0, notes = [] } = missing ?? {};
    const isLasting =
      tooManySince !== undefined &&
      this.#now() - tooManySince >= this.#parts.settings.withdrawAfterMs;
    await this.note('missing', {
      number: isLasting ? Math.max(1, total) : 0,
      ...(tooManySince !== undefined && { since: tooManySince }),
    });
    const shown = notes.filter(({ isShownById }) => isShownById);
    const ids = shown.map(({ id, day }) => `assessment ${id} of ${day}`);
    await this.note('shown-by-id', { number: shown.length, details: shownLines(ids) });
  }

  /** The partner's total differs although no day does, for so long that it is no older answer of a replica. */
  async unexplained(number: number, since: number | undefined): Promise<void> {
    const { withdrawAfterMs } = this.#parts.settings;
    const isLasting = since !== undefined && this.#now() - since >= withdrawAfterMs;
    await this.note('unexplained', {
      number: isLasting ? Math.abs(number) : 0,
      ...(since !== undefined && { since }),
    });
  }

  /** Operations hear of a flood before anything of it is held. */
  async flood(changes: readonly Sighting[]): Promise<boolean> {
    const open = this.#open.get('held');
    if (this.#heldBefore > 0 && open !== undefined && this.#isIndexSure(open)) {
      this.#heldBefore = await this.#kept('held', open);
      await this.note('held', { number: this.#heldBefore });
    }
    const number = this.#heldBefore + changes.length;
    return this.note('held', { number, details: floodDetails(changes) });
  }

  /**
   * What the days that were read say: whether some stay unproven.
   *
   * @param malformed records that this tick has met
   * @returns whether no record is malformed any more: each would leave its day unproven
   */
  async examined(calendar: Calendar, malformed: number): Promise<boolean> {
    const unproven = calendar.days
      .map((day) => ({ day, ...calendar.entry(day) }))
      .filter(({ proof, readAt }) => proof === undefined && readAt > 0);
    const lasting = unproven.filter(
      ({ readAt, unprovenSince = readAt }) => readAt - unprovenSince >= unprovenMs,
    );
    const days = lasting.map(({ day, count }) => `${day}: ${count} assessments expected`);
    await this.note('unproven', { number: lasting.length, details: shownLines(days) });

    const odd = this.#open.get('odd-fields');
    const readAt = calendar.days.map((day) => calendar.entry(day).readAt);
    if (this.oddFields.isNoneMet && odd?.paths && isOver(odd.paths, readAt))
      await this.note('odd-fields', { number: 0 });

    const isMended = malformed === 0 && unproven.length === 0;
    const quarantined = this.lasting.quarantined ?? 0;
    // Also when nothing new has come: what was added within a day of its notice is still to be told.
    if (isMended) await this.note('quarantined', { number: 0 });
    else if (quarantined > 0) await this.note('quarantined', { number: quarantined });
    return isMended;
  }

  /** Fields of announced records that are not as documented: told once by path, as long as ticks meet any. */
  async odd(): Promise<void> {
    if (this.oddFields.isNoneMet) return;
    const known = this.#open.get('odd-fields')?.paths ?? {};
    const { paths, news } = this.oddFields.learned(known, this.#now());
    for (const one of news) this.#parts.journal.warn('odd field', one);
    const lines = Object.entries(paths).map(
      ([path, { records }]) => `${path}: ${records} ${records === 1 ? 'record' : 'records'}`,
    );
    await this.note('odd-fields', { number: lines.length, details: shownLines(lines), paths });
  }

  /** @param records those that were not reported before */
  async quarantined(records: readonly QuarantinedRecord[], total: number): Promise<void> {
    if (records.length === 0) return;
    const lines = records.map(
      ({ id, problems }) =>
        `${id === undefined ? 'a record without an id' : `assessment ${id}`}: ${problems.join('; ')}`,
    );
    await this.note('quarantined', { number: total, details: shownLines(lines) });
  }

  /** What waits for ops: counted anew when this tick has added nothing, since ops take from it. */
  async waiting(tally: { readonly held: number; readonly undeliverable: number }): Promise<void> {
    for (const name of ['held', 'undeliverable'] as const) {
      const open = this.#open.get(name);
      const news = tally[name];
      const before = name === 'held' ? this.#heldBefore : (open?.number ?? 0);
      if (news > 0) await this.note(name, { number: before + news });
      else if (open !== undefined && this.#isIndexSure(open))
        await this.note(name, { number: await this.#kept(name, open) });
    }
  }

  #isIndexSure({ since }: OpenCondition): boolean {
    return this.#now() - since >= indexLagMs;
  }

  /**
   * How many certifications have something that waits for ops. What owes something besides is in the
   * index for that: only a look at the items is sure that there is none.
   */
  async #kept(name: 'held' | 'undeliverable', { number }: OpenCondition): Promise<number> {
    const { ledger } = this.#parts;
    const counted = await ledger.countKept(name);
    if (counted > 0) return counted;
    for await (const { owed, unreadable } of ledger.kept(name))
      if (owed.length > 0 || unreadable.length > 0) return number;
    return 0;
  }

  async #endHindrances(except?: ConditionName): Promise<void> {
    for (const name of hindranceNames)
      if (name !== except && this.#open.has(name)) await this.note(name, { number: 0 });
  }

  async #settle(
    name: ConditionName,
    before: OpenCondition | undefined,
    observed: OpenCondition | undefined,
  ): Promise<boolean> {
    const isTold = observed?.owes === undefined || (await this.#tell(name, observed));
    const after = observed?.owes !== undefined && isTold ? settle(observed, this.#now()) : observed;
    if (after === undefined) this.#open.delete(name);
    else this.#open.set(name, after);
    if (!isDeepStrictEqual(before, after))
      await this.#parts.ledger.saveState({ conditions: new Map([[name, after]]) });
    return isTold;
  }

  async #tell(name: ConditionName, condition: OpenCondition): Promise<boolean> {
    const { announcer, journal, settings } = this.#parts;
    const told = await announcer.notify(conditionNotice(settings, name, condition, this.#now()));
    if (!told.accepted) journal.warn('notice refused', { condition: name, code: told.code });
    return told.accepted;
  }

  #now(): number {
    return this.#parts.clock.now().epochMilliseconds;
  }
}

function shownLines(lines: readonly string[]): string[] {
  const rest = lines.length - listed;
  return [
    ...lines.slice(0, listed).map((line) => line.slice(0, maxLine)),
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ];
}
