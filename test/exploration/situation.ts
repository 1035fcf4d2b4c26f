import type { CertificationEvent } from '../../lambda/events/event.ts';
import type { MemoryLedger } from '../scaffold/memory-ledger.ts';
import { tickSettings } from '../scaffold/settings.ts';
import type { Budget } from './budget.ts';
import { digest, textOf } from './key.ts';
import type { State } from './seen.ts';
import { type Instant, moments, type World } from './world.ts';

export const settings = tickSettings({ name: 'sim' });

/** What subscribers, people and ops have been told, and what ticks have committed. */
export interface Told {
  readonly events: ReadonlyMap<string, CertificationEvent>;
  readonly mailed: ReadonlySet<string>;
  readonly notices: ReadonlySet<string>;
  /** Of each certification the newest version that was committed. */
  readonly committed: ReadonlyMap<number, number>;
  /** Something may have been told and not be known to be: a call has failed, a tick has died or was overlapped. */
  readonly mayRepeat: boolean;
}

/** Where no tick runs: all that the future depends on. Its parts are not changed any more. */
export interface Situation {
  readonly world: World;
  readonly ledger: MemoryLedger;
  readonly told: Told;
  readonly nowMs: number;
  readonly budget: Budget;
}

/** What a state is made of, besides the ledger and what was told. */
export interface StateParts {
  /** Of an execution: two places are two states. */
  readonly place: string;
  readonly world: World;
  readonly budget: Budget;
  readonly nowMs: number;
  /** Whose turn it is. */
  readonly turn: string;
  /** The answers of each process that lives. */
  readonly processes: readonly (readonly [name: string, answers: bigint])[];
  /** Those of one that has died, and whose last request is still on its way. */
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

/** Whether repeats may be heard depends on the budget, and so is no part of it: where the budget is over, the place tells. */
export function recordedIn(
  { items, days, remembered }: MemoryLedger,
  { events, mailed, notices, committed }: Told,
): bigint {
  // Items are changed in place; their parts are not.
  const ofItems = [...items].map(([id, item]) => `${id} ${Object.values(item).map(textOf)}`);
  const others = [days, remembered, events, mailed, notices, committed].map(textOf);
  return digest([...ofItems.toSorted(), ...others].join());
}

/** How far the first reading has come. */
export function momentIn({ remembered: { baseline } }: MemoryLedger): Instant['moment'] {
  if (baseline.status === 'completed') return moments.afterBaseline;
  return baseline.before === undefined ? moments.beforeBaseline : moments.inBaseline;
}
