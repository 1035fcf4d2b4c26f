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
 * What is there to be found by a baseline that announces: nothing goes out before anybody has counted. Undefined: it
 * announces nothing, or there is no time to ask.
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
 * What the first reading announces: by default nothing. One that is made anew announces whatever it finds: the
 * ledger would know what was there before. A known one that has changed since an earlier range is always news.
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

/** What has appeared since the start day was read. */
export async function announceNewcomers(
  { parts, announcement, state }: BaselineContext,
  pulse: PulseRead,
  startDay: Temporal.PlainDate,
): Promise<void> {
  const recent = pulse.assessments.filter(({ certified_on }) =>
    parts.rules.isNewcomer(certified_on, startDay),
  );
  const { changes } = await compareWithLedger(parts, recent, state.salt);
  const done = await announcement.announce(changes, { in: 'page' });
  await parts.ledger.addToDays(countDeltas(done));
}
