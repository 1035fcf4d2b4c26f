import type { Score } from '../score.ts';
import type { Contender } from './watcher.ts';

/** What came of one contender in one case. */
export interface Result {
  readonly case: string;
  readonly contender: Contender;
  /** To the API; those for tokens are not among them. */
  readonly requests: number;
  /** `undefined`: nothing in it could find this. */
  readonly score: Score | undefined;
  /** Of all polls that were not killed. */
  readonly processorSeconds: number;
  readonly peakBytes: number;
}

/** What a contender is, apart from any case. */
export interface Facts {
  readonly name: string;
  readonly version: string;
  readonly importMs: number;
  readonly installedBytes: number;
}

const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(bytes < 2 ** 20 * 10 ? 1 : 0);
const count = (value: number) => value.toLocaleString('en');

export function tableOfResults(results: readonly Result[]): string {
  return markdown(
    [
      'case',
      'contender',
      'requests',
      'found',
      'lost',
      'false',
      'doubled',
      'processor s',
      'peak MB',
    ],
    results.map(({ case: name, contender, requests, score, processorSeconds, peakBytes }) => [
      name,
      contender,
      count(requests),
      ...cellsOf(score),
      processorSeconds.toFixed(1),
      megabytes(peakBytes),
    ]),
  );
}

function cellsOf(score: Score | undefined): string[] {
  if (score === undefined) return ['not offered', 'not offered', '–', '–'];
  const { happened, lost, untrue, twice } = score;
  return [`${count(happened - lost)} of ${count(happened)}`, ...[lost, untrue, twice].map(count)];
}

export function tableOfFacts(facts: readonly Facts[]): string {
  return markdown(
    ['', 'version', 'import, ms', 'installed, MB'],
    facts.map(({ name, version, importMs, installedBytes }) => [
      name,
      version,
      importMs.toFixed(0),
      megabytes(installedBytes),
    ]),
  );
}

/** Where a peer does better than ours, or as well with less. */
export function whereBetter(results: readonly Result[]): string[] {
  const ours = new Map(
    results.flatMap((one) => (one.contender === 'ours' ? [[one.case, one] as const] : [])),
  );
  return results.flatMap((peer) => {
    const own = ours.get(peer.case);
    if (own?.score === undefined || peer.contender === 'ours' || peer.score === undefined)
      return [];
    const [theirs, our] = [faultsOf(peer.score), faultsOf(own.score)];
    if (theirs > our) return [];
    const advantages = [
      ...(theirs < our ? [`${count(theirs)} faults, ours ${count(our)}`] : []),
      ...less('requests', peer.requests, own.requests, count),
      ...less('processor s', peer.processorSeconds, own.processorSeconds, (s) => s.toFixed(1)),
      ...less('peak MB', peer.peakBytes, own.peakBytes, megabytes),
    ];
    return advantages.length === 0
      ? []
      : [`${peer.case}: ${peer.contender}: ${advantages.join('; ')}`];
  });
}

const faultsOf = ({ lost, untrue, twice }: Score) => lost + untrue + twice;

function less(what: string, theirs: number, ours: number, write: (value: number) => string) {
  const isLess = theirs < ours && write(theirs) !== write(ours);
  return isLess ? [`${write(theirs)} ${what}, ours ${write(ours)}`] : [];
}

function markdown(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
}
