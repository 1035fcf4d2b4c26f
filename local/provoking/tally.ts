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

export interface Compared {
  readonly world: ReadonlyMap<number, Fields>;
  /** The certifications of the baseline, which were not announced. */
  readonly baseline: ReadonlyMap<number, Fields>;
  readonly heard: ReadonlyMap<number, NewestEvent>;
}

/** Certifications by the ledger's reason why subscribers do not know them as they are. */
export type Reasons = Readonly<Record<'held' | 'owed' | 'discarded', ReadonlySet<number>>>;

/**
 * @param recorded the ids of the ledger's records without an event
 * @param world as it was when the list was made. A certification of the list that it lacks differs from it.
 */
export function baselineOf(
  recorded: Iterable<number>,
  world: ReadonlyMap<number, Fields>,
): ReadonlyMap<number, Fields> {
  return new Map([...recorded].map((id) => [id, world.get(id) ?? { id }]));
}

/** The certifications that subscribers do not know as they are. */
export function differing({ world, baseline, heard }: Compared): number[] {
  const known = subscribersHave(baseline, heard);
  const ids = new Set([...world.keys(), ...known.keys()]);
  return [...ids].filter((id) => !agree(world.get(id), known.get(id)));
}

/**
 * Compares the world with the subscribers, one certification at a time. Differences that wait for ops are held, those
 * that wait for a tick are owed, and those that ops gave up are discarded. The notifier has not noticed the rest yet.
 * Pure.
 */
export function tallyOf(compared: Compared, reasons: Reasons): LocalTally {
  const { world, baseline, heard } = compared;
  const counts = { held: 0, owed: 0, discarded: 0, difference: 0 };
  for (const id of differing(compared))
    counts[
      (['held', 'owed', 'discarded'] as const).find((one) => reasons[one].has(id)) ?? 'difference'
    ] += 1;
  const of = (kind: NewestEvent['kind']) =>
    [...heard.values()].filter((one) => one.kind === kind).length;
  return {
    world: world.size,
    subscribers: subscribersHave(baseline, heard).size,
    baseline: baseline.size,
    created: of('created'),
    updated: of('updated'),
    withdrawn: of('withdrawn'),
    restored: of('restored'),
    ...counts,
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
