import { markdownTable } from '../scripts/markdown-table.ts';
import { type Contender, contenders, type Measured } from './arena.ts';
import type { Heard } from './subscriber.ts';

/** A change at the partner that subscribers should hear of. */
export type Happened = Pick<Heard, 'type' | 'subject'>;

export const happened =
  (what: 'created' | 'updated' | 'withdrawn') =>
  (id: number): Happened => ({ type: `certification.${what}`, subject: String(id) });

/** Events that subscribers missed, and false events that they heard. */
export interface Score {
  readonly happened: number;
  readonly lost: number;
  /** Second announcements under another id, which no consumer can recognise. */
  readonly twice: number;
  /** Announcements of changes that did not happen. */
  readonly untrue: number;
}

/** A line of the table. */
export interface ScoreRow {
  readonly case: string;
  readonly contender: Contender;
  readonly measured?: Omit<Measured, 'heard'>;
  readonly score?: Score;
  /** Figures that are not counts of requests or units. */
  readonly further?: Readonly<Record<string, number>>;
  readonly target?: { readonly text: string; readonly passed: boolean };
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

/** The consumption and the events of each contender. */
export type Runs = ReadonlyMap<Contender, Measured>;

/** The goal of ours, besides being faultless. */
export interface Goal {
  readonly text: string;
  readonly isMet?: (ours: Measured) => boolean;
  readonly further?: Readonly<Record<string, number>>;
}

/** A row for each contender. */
export function rowsOf(
  name: string,
  truth: readonly Happened[],
  runs: Runs,
  { text, isMet = () => true, further }: Goal,
  judge = scoreOf,
): ScoreRow[] {
  return [...runs].map(([contender, measured]) => {
    const score = judge(truth, measured.heard);
    const row = { case: name, contender, measured, score };
    if (contender !== 'ours') return row;
    const passed = isFaultless(score) && isMet(measured);
    return { ...row, ...(further && { further }), target: { text, passed } };
  });
}

/** The runs of each contender as one. */
export function together(all: readonly Runs[], one: (runs: Measured[]) => Measured = sumOf): Runs {
  return new Map(
    contenders.map((contender) => [
      contender,
      one(all.flatMap((runs) => runs.get(contender) ?? [])),
    ]),
  );
}

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

/** The consumption of the run with the most requests to the partner, with the events of all. */
export function worstOf(runs: readonly Measured[]): Measured {
  const [worst] = runs.toSorted((a, b) => b.requests - a.requests);
  if (worst === undefined) throw new Error('nothing was measured');
  return { ...worst, heard: runs.flatMap(({ heard }) => heard) };
}

const shortNames = { ours: 'ours', 'usual poller': '(a)', 'careful poller': '(b)' };

/** The table of docs/measured/benchmarks.md. */
export function tableOf(rows: readonly ScoreRow[]): string {
  const number = (value: number | undefined) =>
    value?.toLocaleString('en', { maximumFractionDigits: 1 }) ?? '–';
  return markdownTable([
    [
      'case',
      'contender',
      'requests',
      'read units',
      'write units',
      'DynamoDB calls',
      'publishes',
    ].concat(['lost', 'twice', 'target', '']),
    ...rows.map(({ case: name, contender, measured, score, further = {}, target }) => {
      const figures = Object.entries(further).map(([what, value]) => `; ${what}: ${number(value)}`);
      const { requests, readUnits, writeUnits, publishes, calls } = measured ?? {};
      const allCalls = calls && Object.values(calls).reduce((sum, count) => sum + count, 0);
      return [
        [name, ...figures].join(''),
        shortNames[contender],
        ...[requests, readUnits, writeUnits, allCalls, publishes].map(number),
        score ? `${number(score.lost)} of ${number(score.happened)}` : '–',
        number(score?.twice),
        target?.text ?? '',
        target ? (target.passed ? 'pass' : 'FAIL') : '',
      ];
    }),
  ]);
}
