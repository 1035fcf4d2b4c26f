import { markdownTable } from '../../scripts/markdown-table.ts';
import type { Score } from '../score.ts';

/** The result of one contender in one case. */
export interface Result {
  readonly case: string;
  readonly contender: string;
  /** Requests to the API, without those for tokens. */
  readonly requests: number;
  /** Polls that ended with an error. */
  readonly failed: number;
  /** `undefined`: the contender cannot find such changes. */
  readonly score: Score | undefined;
  /** The part of the lost ones that wait for a decision of people. */
  readonly waiting: number;
  /** Over all polls that were not killed. */
  readonly processorSeconds: number;
  readonly peakBytes: number;
}

/** Facts on a contender, apart from any case. */
export interface ContenderFacts {
  readonly name: string;
  readonly version: string;
  readonly importMs?: number;
  readonly installedBytes: number;
}

const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(bytes < 2 ** 20 * 10 ? 1 : 0);
const count = (value: number) => value.toLocaleString('en');

export function tableOfResults(results: readonly Result[]): string {
  return markdownTable([
    'case,contender,requests,found,lost,false,doubled,processor s,peak MB'.split(','),
    ...results.map((one) => [
      one.case,
      one.failed > 0 ? `${one.contender}; ${one.failed} polls failed` : one.contender,
      count(one.requests),
      ...cellsOf(one),
      one.processorSeconds.toFixed(1),
      megabytes(one.peakBytes),
    ]),
  ]);
}

function cellsOf({ score, waiting }: Result): string[] {
  if (score === undefined) return ['not offered', 'not offered', '–', '–'];
  const { happened, lost, untrue, twice } = score;
  const note = lost > 0 && waiting > 0 ? ` (${count(waiting)} wait for ops)` : '';
  const found = `${count(happened - lost)} of ${count(happened)}`;
  return [found, `${count(lost)}${note}`, count(untrue), count(twice)];
}

export function tableOfFacts(facts: readonly ContenderFacts[]): string {
  return markdownTable([
    ['', 'version', 'import, ms', 'installed, MB'],
    ...facts.map(({ name, version, importMs, installedBytes }) => [
      name,
      version,
      importMs?.toFixed(0) ?? '–',
      megabytes(installedBytes),
    ]),
  ]);
}

/** Cases in which a peer loses less than ours, false events apart, or is as faultless with fewer requests. */
export function whereBetter(results: readonly Result[]): string[] {
  const lines = new Map<string, string[]>();
  for (const [peer, own] of pairsOf(results)) {
    const line = betterIn(peer, own);
    if (line !== undefined) lines.set(line, [...(lines.get(line) ?? []), peer.contender]);
  }
  return [...lines].map(([line, contenders]) => `${line} (${contenders.join('; ')})`);
}

function betterIn(peer: Result, own: Result): string | undefined {
  if (peer.score === undefined || own.score === undefined) return undefined;
  const [theirs, ours] = [peer.score, own.score];
  if (theirs.lost < ours.lost)
    return `${peer.case}: ${count(theirs.lost)} lost, ours ${count(ours.lost)}`;
  const isAsGood = faultsOf(theirs) <= faultsOf(ours);
  if (!isAsGood || peer.requests >= own.requests) return undefined;
  return `${peer.case}: ${count(peer.requests)} requests, ours ${count(own.requests)}`;
}

const measures = [
  { what: 'peak memory', unit: 'MB', of: (one: Result) => Math.round(one.peakBytes / 2 ** 20) },
  {
    what: 'processor time',
    unit: 's',
    of: (one: Result) => Number(one.processorSeconds.toFixed(1)),
  },
] as const;

/** Cases in which a peer needs less of the machine than ours, apart from its results. */
export function whereLighter(results: readonly Result[]): string[] {
  const pairs = Map.groupBy(pairsOf(results), ([{ contender }]) => contender);
  return measures.flatMap(({ what, unit, of }) =>
    [...pairs].flatMap(([contender, all]) => {
      const lighter = all.filter(([peer, own]) => of(peer) < of(own));
      if (lighter.length === 0) return [];
      const theirs = rangeOf(lighter.map(([peer]) => of(peer)));
      const ours = rangeOf(lighter.map(([, own]) => of(own)));
      const cases = `${lighter.length} of ${all.length} cases`;
      return [`${what}: ${contender}, in ${cases}: ${theirs} ${unit}, ours ${ours} ${unit}`];
    }),
  );
}

/**
 * Each result of a peer, with ours of the same case. A peer with failed polls is left out, since a failed poll makes
 * few requests.
 */
function pairsOf(results: readonly Result[]): (readonly [peer: Result, ours: Result])[] {
  const ours = new Map(
    results.flatMap((one) => (one.contender === 'ours' ? [[one.case, one] as const] : [])),
  );
  return results.flatMap((peer) => {
    const own = ours.get(peer.case);
    const isFit = own !== undefined && peer !== own && peer.failed === 0;
    return isFit ? [[peer, own] as const] : [];
  });
}

function rangeOf(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? `${least}` : `${least} to ${most}`;
}

const faultsOf = ({ lost, untrue, twice }: Score) => lost + untrue + twice;
