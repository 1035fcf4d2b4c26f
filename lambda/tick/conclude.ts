import { isDeepStrictEqual } from 'node:util';
import type { Temporal } from 'temporal-polyfill';
import { activityAfter } from '../decisions/activity.ts';
import { stillAgreed, tallied } from '../decisions/compare.ts';
import { indexLagMinutes } from '../decisions/digest-schedule.ts';
import { calendarLearned } from '../decisions/due.ts';
import { digestOf, rulesNow } from '../decisions/fingerprint.ts';
import { unexplainedAfter } from '../decisions/locate.ts';
import { conditionsOf, isMended, type Seen } from '../decisions/observations.ts';
import type { QuarantinedRecord } from '../decisions/partner-reads.ts';
import { silenceAfter, silenceSeen } from '../decisions/silence.ts';
import { type LeasedState, noLease, type StateChanges } from '../decisions/state.ts';
import { releaseForetold } from './announce.ts';
import { tellPeople } from './deliver.ts';
import {
  type BaselineDone,
  type Done,
  type Leased,
  leaseLost,
  type PageDone,
  type SearchDone,
  stateOf,
} from './done.ts';
import type { Effort, Outcome, Step, TickParts } from './parts.ts';
import { tell, waitingSeen } from './tell.ts';

/**
 * Saved instead of the pulse's digest, so that the next tick compares the page again. A state
 * without a digest makes it search as well.
 */
const lookAgain = '';

/**
 * The state remembers this many reported records, so that each is reported once. Further ones are
 * only counted.
 */
const reportedKept = 50;

/** The log needs examples, not a list of everybody. */
const idsShown = 10;

/** How a tick ends; `stopped`: before it has looked to its end, or at all. */
type Ending = Outcome | 'stopped';

/**
 * Ends a tick: the digest goes out, ops are told, and the state is written last, so that it never
 * claims a notice that nobody got. A tick without the lease that has not looked writes no state.
 */
export async function* conclude(parts: TickParts, outcome: Outcome, effort: () => Effort): Step {
  const { ledger, clock } = parts;
  const { leased, blocked, page } = yield;
  const isQuiet = outcome === 'completed' && blocked !== undefined;
  if (leased === undefined && !isQuiet) return yield* tellOps(parts);
  if (leased && page) yield* releaseForetold({ ...parts, ...leased }, agrees(yield));
  const endedAt = clock.now();
  if (leased) yield* tellPeople({ ...parts, ...leased });
  yield* tellOps(parts, outcome);
  const done = yield;
  const end = {
    ...learnedBy(done),
    ...endOf(done, outcome, endedAt),
    activity: activityOf(done, effort(), 'completed', clock.now()),
  };
  if (!(await ledger.saveState(end, leased?.lease))) yield leaseLost(leased?.lease);
}

/** Ops are told before the state says that they know. */
export async function* tellOps(parts: TickParts, ending: Ending = 'stopped'): Step {
  const { leased, waiting } = yield;
  if (leased && waiting === undefined)
    yield { is: 'counted', waiting: await waitingSeen(parts, yield) };
  const done = yield;
  const seen = seenBy(parts, done, ending);
  if (leased) logOdd(parts, done, seen.reported?.news ?? []);
  yield* tell(parts, conditionsOf(seen, done.open, parts.clock.now().epochMilliseconds));
}

/** The facts from which conditions follow. A tick that did not come to its end knows fewer. */
function seenBy({ partner, settings, clock }: TickParts, done: Done, ending: Ending): Seen {
  const { leased, time, quarantined, oddFields } = done;
  const { missing, unexplained, silence, pulseDigest } = { ...stateOf(done), ...learnedBy(done) };
  const hasLooked = ending === 'completed' && pulseDigest !== undefined && !time.isCutShort;
  const fresh = unreported(done);
  const total = stateOf(done).reported.length + fresh.length;
  const atEnd: Partial<Seen> = {
    ...(fresh.length > 0 && { reported: { news: fresh.map(([, record]) => record), total } }),
    // A baseline does not look for missing certifications, so it can neither begin nor end that
    // condition.
    ...(ending !== 'baseline' && {
      absence: { missing, unexplained, steadyMs: settings.withdrawAfterMs },
    }),
    ...(hasLooked && { silent: silenceSeen(silence, settings, clock.now()) }),
    ...(leased && { twins: done.twins }),
  };
  const { blocked, stated, unread, searched, waiting } = done;
  return {
    ...{ pace: partner.pace, quarantined, oddFields, stated },
    ...{ blocked, unread, calendar: searched?.calendar, waiting },
    ...(ending !== 'stopped' && atEnd),
  };
}

/** Quarantined records that no tick has reported yet. */
export function unreported(done: Done): readonly (readonly [string, QuarantinedRecord])[] {
  const { reported } = stateOf(done);
  return [...done.quarantined]
    .filter(([name]) => !reported.includes(name))
    .slice(0, reportedKept - reported.length);
}

/** Logs new quarantined records and new odd fields, with the ids of their records. */
function logOdd({ journal }: TickParts, done: Done, news: readonly QuarantinedRecord[]): void {
  for (const { id, problems } of news) journal.warn('record quarantined', { id, problems });
  const { paths = {} } = done.open.get('odd-fields') ?? {};
  for (const [path, ids] of done.oddFields)
    if (!Object.hasOwn(paths, path))
      journal.warn('odd field', { path, records: ids.size, ids: [...ids].slice(0, idsShown) });
}

/**
 * The state's facts after a tick that came to its end. A fact that the tick has not seen leaves its
 * field as it is.
 */
export function learnedBy(done: Done): StateChanges {
  const { leased, page, searched, baseline, gateLook, touched } = done;
  const fresh = unreported(done).map(([name]) => name);
  const { reported } = stateOf(done);
  return {
    ...(leased && !page && touched.size === 0 && keptAgreed(leased.state)),
    ...(page && pageLearned(done, page)),
    ...(searched && searchLearned(done, searched)),
    ...(gateLook && { gateLook: gateLook.at }),
    ...(baseline && baselineLearned(done, baseline)),
    ...(fresh.length > 0 && { reported: [...reported, ...fresh] }),
  };
}

/**
 * A lease for owed events changes no certification, so rows that agreed with the ledger still do.
 */
const keptAgreed = ({ agreed, dirtySince }: LeasedState): StateChanges =>
  agreed && !dirtySince ? { agreed } : {};

/** A difference is left, or changes may be: the next tick searches. */
function isLeft({ searched, failures }: Done, page: PageDone): boolean {
  const isAllLocated = searched ? searched.isAllLocated : page.isAll;
  return !isAllLocated || !page.isInTime || failures > 0;
}

/** The pulse's total equals the calendar's sum. */
function agrees(done: Done): boolean {
  const { page, searched } = done;
  if (page === undefined || isLeft(done, page)) return false;
  return page.pulse.count === (searched?.calendar.total ?? page.expected);
}

/**
 * The next tick compares the page again if another tick has committed one of its rows first,
 * perhaps an older version. It also does if the page shows a certification noted as missing, since
 * that sighting clears the note.
 */
function pageLearned(done: Done, page: PageDone): StateChanges {
  const { searched, tally, time, touched } = done;
  const { pulse, expected, silence, missing, agreed, isOlder } = page;
  const { salt, missing: before } = stateOf(done);
  const noted = new Set((searched ?? page).missing?.notes.map(({ id }) => id));
  const isSeen =
    tally.conflicts === 0 &&
    !isOlder &&
    !time.isCutShort &&
    !pulse.assessments.some(({ id }) => noted.has(id));
  const digest = isSeen ? digestOf(pulse, salt) : lookAgain;
  return {
    ...{ expected, silence },
    ...(missing !== before && { missing }),
    pulseDigest: isLeft(done, page) ? undefined : digest,
    agreed: stillAgreed(agreed, touched, salt),
  };
}

function searchLearned(done: Done, searched: SearchDone): StateChanges {
  const { leased, page, quarantined } = done;
  const { calendar, plan, auditsFrom, began, rest, isBaselineTold } = searched;
  const { cursor, searching, missing } = searched;
  const state = stateOf(done);
  const { reported, baseline } = state;
  return {
    ...calendarLearned(calendar, plan, auditsFrom),
    ...(isBaselineTold && { baseline: { ...baseline, isNoticeOwed: false } }),
    ...(isMended(calendar, quarantined.size) && reported.length > 0 && { reported: [] }),
    ...(leased && {
      silence: silenceAfter(calendar, leased.window.today, page ? page.silence : state.silence),
    }),
    ...{ cursor, searching, missing },
    ...unexplainedAfter(state, rest, began),
  };
}

function baselineLearned(done: Done, { baseline, ended, pulse }: BaselineDone): StateChanges {
  return {
    baseline,
    ...(ended && calendarLearned(ended.calendar, ended.plan, 0)),
    ...(pulse && { pulseDigest: digestOf(pulse, stateOf(done).salt) }),
  };
}

/** The other facts of a tick that came to its end. */
function endOf(done: Done, outcome: Outcome, now: Temporal.Instant): StateChanges {
  const { leased, denial } = done;
  const state = stateOf(done);
  const isOfThese = state.rules?.number === rulesNow;
  return {
    ...((denial ?? state.denial) && { denial }),
    ...(leased && { ...announcedBy(done, leased, outcome, now), ...noLease }),
    heartbeat: now.toString(),
    ...(!isOfThese && { rules: { number: rulesNow, since: now.epochMilliseconds } }),
  };
}

/**
 * The state's facts on announcements, and since when an outbox may owe an event. `dirtySince` stays
 * as the lease set it if an event was refused or left, or if the outcome of a commit is unknown. An
 * earlier tick's events count as delivered only once the index of undelivered events is sure to have
 * shown them.
 */
function announcedBy(
  done: Done,
  { state, window }: Leased,
  outcome: Outcome,
  now: Temporal.Instant,
): StateChanges {
  const { gate, reserved, twins, tally, delivery, failures, released, time, touched } = done;
  const today = tallied(state.today, window.today.toString(), tally);
  const kept = {
    digest: delivery.schedule,
    ...(!isDeepStrictEqual(gate, reserved) && { gate }),
    ...(!isDeepStrictEqual(twins, state.twins ?? []) && { twins }),
    ...(today && { today }),
  };
  // The pace has ended it amid its changes: the next tick catches up.
  const isBrokenOff = outcome === 'backing-off' && touched.size > 0;
  const isLeft = delivery.undelivered > 0 || tally.conflicts > 0 || failures + released > 0;
  const isOwn = isLeft || isBrokenOff || time.isCutShort;
  if (isOwn) return kept;
  const since = state.dirtySince;
  const isIndexSure =
    // A tick that backs off has delivered, but has not looked for other leftovers of the tick
    // before.
    outcome !== 'backing-off' &&
    since !== undefined &&
    now.since(since).total('minutes') >= indexLagMinutes;
  return { ...kept, dirtySince: isIndexSure ? undefined : since };
}

export function activityOf(
  done: Done,
  { requests }: Effort,
  ending: 'completed' | 'failed',
  now: Temporal.Instant,
) {
  const { created, updated, withdrawn, restored, held } = done.tally;
  const found = created + updated + withdrawn + restored;
  const failed = ending === 'failed' || done.failures > 0 ? 1 : 0;
  const tick = { requests, found, held, failed };
  return activityAfter(stateOf(done).activity, tick, now.epochMilliseconds);
}
