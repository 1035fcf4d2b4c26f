import { Temporal } from 'temporal-polyfill';
import { countDeltas, type Sighting } from '../detection/compare.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import type { State } from '../ports/state.ts';
import type { Announcement } from './announcement.ts';
import type { TickParts } from './parts.ts';
import type { TimeLimit } from './time-limit.ts';

export interface BaselineContext {
  readonly parts: TickParts;
  readonly announcement: Announcement;
  readonly limit: TimeLimit;
  readonly state: State;
}

/** What is there to be found by a baseline that announces: nothing goes out before anybody has counted. Undefined: there is no time to ask. */
export async function totalToBe(
  { parts, limit, state }: BaselineContext,
  { count }: PulseRead,
): Promise<number | undefined> {
  const { announce } = parts.settings;
  const { isAnew } = state.baseline;
  if (isAnew || typeof announce !== 'object') return count - state.unexplained;
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
  const known = await parts.ledger.known(recent.map(({ id }) => id));
  const { changes } = parts.rules.compare(
    recent,
    known,
    state.salt,
    parts.clock.now().epochMilliseconds,
    parts.settings.withdrawAfterMs,
  );
  const done = await announcement.announce(changes, { in: 'page' });
  await parts.ledger.addToDays(countDeltas(done));
}
