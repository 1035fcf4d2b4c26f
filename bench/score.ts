import type { Contender, Measured } from './arena.ts';
import type { Heard } from './subscriber.ts';

/** A change at the partner that subscribers should hear of. */
export type Happened = Pick<Heard, 'type' | 'subject'>;

/** Events that subscribers missed, and false events that they heard. */
export interface Score {
  readonly happened: number;
  readonly lost: number;
  /** Second announcements under another id, which no consumer can recognise. */
  readonly twice: number;
  /** Announcements of changes that did not happen. */
  readonly untrue: number;
}

export interface Goal {
  readonly text: string;
  readonly passed: boolean;
}

/** A line of the table. */
export interface ScoreRow {
  readonly case: string;
  readonly contender: Contender;
  readonly measured?: Omit<Measured, 'heard'>;
  readonly score?: Score;
  /** Figures that are not counts of requests or units. */
  readonly further?: Readonly<Record<string, number>>;
  readonly target?: Goal;
}

const keyOf = ({ type, subject }: Happened) => `${type} ${subject}`;

export function scoreOf(happened: readonly Happened[], heard: readonly Heard[]): Score {
  const truth = new Set(happened.map(keyOf));
  const ids = new Map<string, Set<string>>();
  for (const event of heard) {
    const key = keyOf(event);
    ids.set(key, (ids.get(key) ?? new Set()).add(event.id));
  }
  const told = (what: string, subject: string) =>
    ids.get(keyOf({ type: `certification.${what}`, subject }))?.size ?? 0;
  // One can be withdrawn once more than it was restored.
  const isToldTwice = (subject: string) =>
    told('created', subject) > 1 || told('withdrawn', subject) > 1 + told('restored', subject);
  const subjects = new Set(heard.map(({ subject }) => subject));
  return {
    happened: truth.size,
    lost: [...truth].filter((key) => !ids.has(key)).length,
    twice: [...subjects].filter(isToldTwice).length,
    untrue: [...ids.keys()].filter((key) => !truth.has(key)).length,
  };
}

export const isFaultless = ({ lost, twice, untrue }: Score) => lost + twice + untrue === 0;

/** The sum of the consumption of several runs. */
export function sumOf(runs: readonly Measured[]): Measured {
  const calls = new Map<string, number>();
  for (const run of runs)
    for (const [operation, count] of Object.entries(run.calls))
      calls.set(operation, (calls.get(operation) ?? 0) + count);
  const total = (of: (run: Measured) => number) => runs.reduce((sum, run) => sum + of(run), 0);
  return {
    requests: total(({ requests }) => requests),
    readUnits: total(({ readUnits }) => readUnits),
    writeUnits: total(({ writeUnits }) => writeUnits),
    publishes: total(({ publishes }) => publishes),
    ms: total(({ ms }) => ms),
    calls: Object.fromEntries(calls),
    heard: runs.flatMap(({ heard }) => heard),
  };
}

/** The run with the most requests to the partner. */
export function worstOf(runs: readonly Measured[]): Measured {
  const [first, ...others] = runs;
  if (first === undefined) throw new Error('nothing was measured');
  return others.reduce((worst, run) => (run.requests > worst.requests ? run : worst), first);
}
