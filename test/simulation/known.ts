import type { State } from '../../lambda/ports/state.ts';
import { calmest, type Plan } from './plan.ts';

/**
 * Known defects, told by their cause, never by a seed. A life that ends like this is
 * reported apart from those that found something new.
 */
export const known = {
  vanished:
    'known: a small world has vanished whole while a tick was killed, and is never asked for again',
  outgrown:
    'known: an accepted total still counts as what was there, although more than twice as much is there now',
} as const;

/** How a life has ended. */
export interface Ending {
  readonly state: Pick<State, 'expected' | 'collapsedFrom'>;
  /** Records that are there. */
  readonly present: number;
  /** How often each thing has happened in it. */
  readonly coverage: ReadonlyMap<string, number>;
}

/**
 * The total has fallen to nothing, and the tick that saw it died after the calendar had been told: nothing
 * is expected, nothing collapsed, and with nothing left to try single records with, none is believed gone.
 */
function isVanished({ state, present, coverage }: Ending): boolean {
  const hasTickDied = coverage.has('killed') || coverage.has('out of time');
  return hasTickDied && present === 0 && state.expected === 0 && state.collapsedFrom === undefined;
}

const ofTheVanished = [
  /^\S+ is not proven$/,
  /^unproven is thought to last$/,
  /^\d+ is gone and was not withdrawn$/,
];

/** The findings of a life, those with a known cause told by it. */
export function explained(findings: readonly string[], ending: Ending): string[] {
  if (!isVanished(ending)) return [...findings];
  return findings.map((finding) => {
    const isOfIt = ofTheVanished.some((kind) => kind.test(finding));
    return isOfIt ? `${finding} (${known.vanished})` : finding;
  });
}

/** Ops have called a total right, and what came since is more than all of it. */
export function isOutgrown({ accepted, expected }: State): boolean {
  return accepted !== undefined && accepted.total < expected / 2;
}

export function isKnown(finding: string): boolean {
  return Object.values(known).some((cause) => finding.endsWith(`(${cause})`));
}

/** Findings whose cause nobody knows yet. */
export function newsIn(findings: readonly string[]): string[] {
  return findings.filter((finding) => !isKnown(finding));
}

/** A shrunk life that ends with each today. The one of the outgrown is told in `known.test.ts`: chance takes thousands of lives to it. */
export const vanishedLife: { readonly seed: number; readonly plan: Partial<Plan> } = {
  seed: 108,
  plan: { ...calmest, born: 3, ticks: 3, kill: 0.1, exodus: 0.5 },
};
