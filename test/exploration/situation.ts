import { hash } from 'node:crypto';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import type { MemoryLedger } from '../scaffold/memory-ledger.ts';
import { tickSettings } from '../scaffold/settings.ts';
import type { Budget, State } from './seen.ts';
import { type Instant, moments, type World } from './world.ts';

/** 64 bits. Two states with one digest have the same future. */
export function digest(text: string): bigint {
  return hash('sha1', text, 'buffer').readBigInt64LE();
}

/** Texts of objects that are replaced, and never changed. */
const texts = new WeakMap<object, string>();

/** Equal for equal values, in any order of maps and sets. */
export function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  if (Array.isArray(value)) return `[${value.map(textOf)}]`;
  if (value instanceof Map || value instanceof Set) return `{${[...value].map(textOf).toSorted()}}`;
  const text = texts.get(value) ?? textOfObject(value);
  texts.set(value, text);
  return text;
}

function textOfObject(value: object): string {
  if ('toJSON' in value) return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, field]) => `${name}:${textOf(field)}`)}}`;
}

export const settings = tickSettings({ name: 'sim' });

/** The texts sent to subscribers, people and ops, and the committed changes. */
export interface Told {
  readonly events: ReadonlyMap<string, CertificationEvent>;
  readonly mailed: ReadonlySet<string>;
  readonly notices: ReadonlySet<string>;
  /** The newest committed version of each certification. */
  readonly committed: ReadonlyMap<number, number>;
  /** An event may be sent again: a call has failed, or a tick has died or was overlapped. */
  readonly mayRepeat: boolean;
}

/**
 * A point without a running tick: all values that determine the future. Its parts are not changed
 * any more.
 */
export interface Situation {
  readonly world: World;
  readonly ledger: MemoryLedger;
  readonly told: Told;
  readonly nowMs: number;
  readonly budget: Budget;
}

/** The parts of a state besides the ledger and the sent texts. */
export interface StateParts {
  /** The place in an execution: two places are two states. */
  readonly place: string;
  readonly world: World;
  readonly budget: Budget;
  readonly nowMs: number;
  /** The process with the next turn. */
  readonly turn: string;
  /** The answers of each living process. */
  readonly processes: readonly (readonly [name: string, answers: bigint])[];
  /** The answers of a dead one whose last request is still under way. */
  readonly late?: bigint | undefined;
}

/** Two situations of one state, at one place of an execution, have the same future. */
export function stateOf({ ledger, told, ...rest }: Situation, place: string): State {
  return stateIn({ ...rest, place, turn: '', processes: [] }, recordedIn(ledger, told));
}

export function stateIn(parts: StateParts, recorded: bigint): State {
  const { place, world, budget, nowMs, turn, processes, late } = parts;
  const live = processes.map(([name, answers]) => `${name} ${answers}`);
  const text = `${recorded} ${textOf(world)} ${nowMs} ${turn} ${live} ${late} ${place}`;
  return { key: digest(text), budget };
}

/**
 * The budget determines whether repeats are excused, so this is no part of the digest. When the
 * budget is used up, the place tells.
 */
export function recordedIn(
  { items, days, remembered }: MemoryLedger,
  { events, mailed, notices, committed }: Told,
): bigint {
  // Items are changed in place, but not their parts.
  const ofItems = [...items].map(([id, item]) => `${id} ${Object.values(item).map(textOf)}`);
  const others = [days, remembered, events, mailed, notices, committed].map(textOf);
  return digest([...ofItems.toSorted(), ...others].join());
}

/** The progress of the baseline. */
export function momentIn({ remembered: { baseline } }: MemoryLedger): Instant['moment'] {
  if (baseline.status === 'completed') return moments.afterBaseline;
  return baseline.before === undefined ? moments.beforeBaseline : moments.inBaseline;
}
