import { Temporal } from 'temporal-polyfill';
import { countDeltas, type Sighting } from '../detection/compare.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import type { State } from '../ports/state.ts';
import type { Announcement } from './announcement.ts';
import { compareWithLedger } from './page.ts';
import type { StepContext, TickParts } from './parts.ts';

export interface BaselineContext extends StepContext {
  readonly announcement: Announcement;
  readonly state: State;
}

/**
 * The total that a baseline leads to, if it announces: the gate must know it before the first event
 * goes out.
 *
 * @returns undefined if the baseline announces nothing, or if time has run out
 */
export async function totalToBe(
  { parts, limit, state }: BaselineContext,
  { count }: PulseRead,
): Promise<number | undefined> {
  const { announce } = parts.settings;
  const { isAnew } = state.baseline;
  if (isAnew || announce === 'all') return count - state.unexplained;
  if (announce === 'none') return undefined;
  const from = Temporal.PlainDate.from(announce.since);
  const news = await limit.ask((deadline) => parts.partner.count({ from }, deadline));
  return news === 'out-of-time' ? undefined : state.expected + news;
}

/**
 * Says which sightings of a baseline are news. By default, none is. A restarted baseline announces
 * everything that it finds, since the ledger already has the certifications that were there before.
 * A known certification that has changed since an earlier range is always news.
 */
export function isNewsInBaseline(
  { settings }: Pick<TickParts, 'settings'>,
  { baseline }: Pick<State, 'baseline'>,
): (sighting: Sighting) => boolean {
  const { announce } = settings;
  if (baseline.isAnew || announce === 'all') return () => true;
  return ({ kind, assessment }) =>
    kind !== 'created' || (announce !== 'none' && assessment.certified_on >= announce.since);
}

/** Announces certifications that appeared after the start day was read. */
export async function announceNewcomers(
  { parts, announcement, state }: BaselineContext,
  pulse: PulseRead,
  startDay: Temporal.PlainDate,
): Promise<void> {
  const recent = pulse.assessments.filter(({ certified_on }) =>
    parts.rules.isNewcomer(certified_on, startDay),
  );
  const { changes } = await compareWithLedger(parts, recent, state);
  const done = await announcement.announce(changes, { in: 'page' });
  await parts.ledger.addToDays(countDeltas(done));
}
