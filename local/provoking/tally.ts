import { isDeepStrictEqual } from 'node:util';
import type { LocalTally } from '../../console/index.ts';

/** A record as the partner shows it, or as an event carries it. */
export type Fields = Readonly<Record<string, unknown>>;

/** The newest event of an assessment that a subscriber got. */
export interface NewestEvent {
  readonly revision: number;
  readonly kind: 'created' | 'updated' | 'withdrawn' | 'restored';
  readonly assessment: Fields;
}

export interface TallyInput {
  readonly world: ReadonlyMap<number, Fields>;
  /** The certifications of the baseline, which were not announced. */
  readonly baseline: ReadonlyMap<number, Fields>;
  readonly heard: ReadonlyMap<number, NewestEvent>;
  readonly held: ReadonlySet<number>;
  readonly owed: ReadonlySet<number>;
}

/**
 * Compares the world with the subscribers, one certification at a time. Differences that wait for ops are held, and
 * those that wait for a tick are owed. The notifier has not noticed the rest yet. Pure.
 */
export function tallyOf({ world, baseline, heard, held, owed }: TallyInput): LocalTally {
  const known = subscribersHave(baseline, heard);
  const ids = new Set([...world.keys(), ...known.keys()]);
  const differing = [...ids].filter((id) => !agree(world.get(id), known.get(id)));
  const waitsForOps = differing.filter((id) => held.has(id));
  const waitsForTick = differing.filter((id) => owed.has(id) && !held.has(id));
  const of = (kind: NewestEvent['kind']) =>
    [...heard.values()].filter((one) => one.kind === kind).length;
  return {
    world: world.size,
    subscribers: known.size,
    baseline: baseline.size,
    created: of('created'),
    updated: of('updated'),
    withdrawn: of('withdrawn'),
    restored: of('restored'),
    held: waitsForOps.length,
    owed: waitsForTick.length,
    difference: differing.length - waitsForOps.length - waitsForTick.length,
  };
}

/** Only a newer revision counts, so repeats and their order do not matter. */
export function hears(heard: Map<number, NewestEvent>, id: number, news: NewestEvent): void {
  const before = heard.get(id);
  if (before === undefined || before.revision < news.revision) heard.set(id, news);
}

function subscribersHave(
  baseline: ReadonlyMap<number, Fields>,
  heard: ReadonlyMap<number, NewestEvent>,
): ReadonlyMap<number, Fields> {
  const known = new Map(baseline);
  for (const [id, { kind, assessment }] of heard) {
    if (kind === 'withdrawn') known.delete(id);
    else known.set(id, assessment);
  }
  return known;
}

/** Compares only the fields that the integration's events have. */
function agree(shown: Fields | undefined, known: Fields | undefined): boolean {
  if (shown === undefined || known === undefined) return shown === known;
  return Object.entries(known).every(([name, value]) => isDeepStrictEqual(shown[name], value));
}
