import { markdownTable } from '../scripts/markdown-table.ts';
import type { Consumption } from './meter.ts';
import type { Heard } from './subscriber.ts';

/** A change at the partner that subscribers should hear of. */
export type Happened = Pick<Heard, 'type' | 'subject'>;

export const happened =
  (what: 'created' | 'updated' | 'withdrawn') =>
  (id: number): Happened => ({ type: `certification.${what}`, subject: String(id) });

/** The costs and the results of ticks. */
export interface Measured extends Consumption {
  /** Requests to the API by the sandbox's log, without those for tokens. */
  readonly requests: number;
  /** Events that the subscriber received. */
  readonly heard: readonly Heard[];
}

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
  readonly measured: Omit<Measured, 'heard'>;
  readonly score?: Score;
  /** Figures that are not counts of requests or units. */
  readonly further?: Readonly<Record<string, number>>;
  readonly target: { readonly text: string; readonly passed: boolean };
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

/** The goal of a case, besides being faultless. */
export interface Goal {
  readonly text: string;
  readonly isMet?: (measured: Measured) => boolean;
  readonly further?: Readonly<Record<string, number>>;
}

export function rowOf(
  name: string,
  truth: readonly Happened[],
  measured: Measured,
  { text, isMet = () => true, further = {} }: Goal,
): ScoreRow {
  const score = scoreOf(truth, measured.heard);
  const isFaultless = score.lost + score.twice + score.untrue === 0;
  const passed = isFaultless && isMet(measured);
  return { case: name, measured, score, further, target: { text, passed } };
}

/** The sum of several runs. */
export function sumOf(runs: readonly Measured[]): Measured {
  const total = (of: (run: Measured) => number) => runs.reduce((sum, run) => sum + of(run), 0);
  return {
    requests: total(({ requests }) => requests),
    readUnits: total(({ readUnits }) => readUnits),
    writeUnits: total(({ writeUnits }) => writeUnits),
    publishes: total(({ publishes }) => publishes),
    calls: total(({ calls }) => calls),
    heard: runs.flatMap(({ heard }) => heard),
  };
}

/** The table of docs/measured/benchmarks.md. */
export function tableOf(rows: readonly ScoreRow[]): string {
  const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 1 });
  const figure = (value: number) => value.toLocaleString('en');
  return markdownTable([
    'case,requests,read units,write units,DynamoDB calls,publishes,lost,twice,target,'.split(','),
    ...rows.map(({ case: name, measured, score, further = {}, target }) => {
      const { requests, readUnits, writeUnits, publishes, calls } = measured;
      return [
        [name, ...Object.entries(further).map(([what, value]) => `${what}: ${figure(value)}`)].join(
          '; ',
        ),
        ...[requests, readUnits, writeUnits, calls, publishes].map(number),
        score ? `${number(score.lost)} of ${number(score.happened)}` : '–',
        score ? number(score.twice) : '–',
        target.text,
        target.passed ? 'pass' : 'FAIL',
      ];
    }),
  ]);
}
