import { isDeepStrictEqual } from 'node:util';
import { fatesOf, tellingOf } from '../decisions/baseline.ts';
import { Calendar } from '../decisions/calendar.ts';
import { countDeltas, type Sighting } from '../decisions/compare.ts';
import { asking, stillAsked } from '../decisions/day-entries.ts';
import { auditPlanOf, savedUntil, waited } from '../decisions/due.ts';
import { believed, isSearchedAgain } from '../decisions/locate.ts';
import { nothingMissing, sighted } from '../decisions/missing.ts';
import { unreadSeen } from '../decisions/observations.ts';
import { knownPace } from '../decisions/pace.ts';
import type { PulseRead } from '../decisions/partner-reads.ts';
import { silenceEnded } from '../decisions/silence.ts';
import type { State } from '../decisions/state.ts';
import { dueWork, hasRoomForAll } from '../decisions/worklist.ts';
import { baselineNotice } from '../delivery/notices.ts';
import { announce } from './announce.ts';
import { type Done, nothingLooked } from './done.ts';
import { dueLooks, missingAfter } from './looks.ts';
import { compareWithLedger, readPage } from './page.ts';
import type { LeasedParts, Step } from './parts.ts';
import { readCalendar } from './read.ts';
import { notified } from './tell.ts';
import { carryOut } from './work.ts';

/**
 * Announces the newest page's changes. If they are not all, it searches for the others. Audits come
 * last.
 */
export async function* lookAtPage(leased: LeasedParts, pulse: PulseRead): Step {
  const at = yield* caughtUp(leased);
  const { clock, settings, ledger, window, lease, state } = at;
  const page = yield* readPage(at, pulse);
  const nowMs = clock.now().epochMilliseconds;
  const count = pulse.count - believed(state, settings.withdrawAfterMs, nowMs);
  const missing = state.missing && sighted(state.missing, ({ id }) => page.seen.has(id));
  yield { is: 'expects', total: count };
  const doubtful = await doubtfulOf(at, page.changes);
  const clear = page.changes.filter((change) => !doubtful.includes(change));
  const changes = yield* announce(at, clear, { in: 'page' });
  const deltas = countDeltas(changes);
  await ledger.addToDays(deltas, lease);
  const newest = changes.flatMap((one) =>
    one.kind === 'created' ? one.assessment.certified_on : [],
  );
  const silence = silenceEnded(state.silence, newest, window.today);
  const { agreed, isAll, isOlder } = page;
  const expected = [...deltas.values()].reduce((all, one) => all + one, state.expected);
  // Taken before the audits: those that time is too short for stay due and leave nothing.
  const isInTime = !(yield).time.isCutShort;
  yield {
    is: 'page',
    page: { pulse, agreed, isAll, isOlder, isInTime, expected, silence, missing },
  };
  // An unfinished search goes on even if the total agrees: one certification may have come for one
  // that went.
  const { toFind, toRead } = leftOf(state, clock.now().epochMilliseconds);
  const differs = !isAll || toFind || doubtful.length > 0;
  if (differs || toRead) {
    const toBeFound = Math.max(0, state.expected - count);
    const seen = { ...at, state: { ...state, missing } };
    yield* readDue(seen, pulse, toBeFound, differs, doubtful);
  }
  yield* holdUnread(at, doubtful);
}

/** A killed tick may have counted its commits in the calendar and not in the state. */
async function* caughtUp(at: LeasedParts): Step<LeasedParts> {
  const { state, window, ledger, lease } = at;
  if (!state.dirtySince) return at;
  const entries = await ledger.calendar(state.years);
  const { total: expected, missing: total } = new Calendar(entries, window.days);
  const isAnyMissing = state.missing !== undefined || total > 0;
  const missing = { ...(state.missing ?? nothingMissing), total };
  const leased = { lease, window, state: { ...state, expected, ...(isAnyMissing && { missing }) } };
  yield { is: 'caught-up', leased };
  return { ...at, ...leased };
}

/**
 * Sightings of the page on days that the baseline could not read. Nobody can tell news from history
 * there, so these days are read first.
 */
async function doubtfulOf(at: LeasedParts, changes: readonly Sighting[]) {
  const { state, settings } = at;
  if (state.unread === undefined || changes.length === 0) return [];
  const calendar = await readCalendar(at);
  const telling = { ...tellingOf(settings, state), purpose: 'search', isRead: false } as const;
  const fates = fatesOf(changes, { ...telling, calendar });
  return changes.filter((change) => fates.get(change) === 'doubtful');
}

/** Those that the reads of their days have not shown are held. */
async function* holdUnread(at: LeasedParts, doubtful: readonly Sighting[]): Step {
  const { time, twins } = yield;
  if (doubtful.length === 0 || time.isCutShort) return;
  const shown = doubtful.map(({ assessment }) => assessment);
  const unsure = new Set(twins.map(({ id }) => id));
  const { changes } = yield* compareWithLedger(at, shown, unsure, () => true);
  yield* announce(at, changes, { in: 'page', reason: 'baseline' });
}

/**
 * `toFind`: the last search did not end, or it must be repeated. `toRead`: a day did not fit into a
 * tick, or days are due.
 */
export function leftOf(
  { pulseDigest, unexplainedSince, heartbeat, missing, cursor, dueAt }: State,
  nowMs: number,
): { readonly toFind: boolean; readonly toRead: boolean } {
  const isRepeated =
    unexplainedSince !== undefined &&
    heartbeat !== undefined &&
    isSearchedAgain(unexplainedSince, Date.parse(heartbeat), nowMs);
  return {
    toFind: pulseDigest === undefined || isRepeated,
    toRead: cursor !== undefined || Math.min(dueAt, missing?.lookAt ?? dueAt) <= nowMs,
  };
}

/**
 * Reads the days that are due, and learns the calendar's facts from then.
 *
 * @param toBeFound how many are missing by the partner's total, and not found yet
 * @param doubtful sightings whose days are read first
 */
export async function* readDue(
  at: LeasedParts,
  pulse: PulseRead,
  toBeFound: number,
  differs: boolean,
  doubtful: readonly Sighting[] = [],
): Step {
  const { state, window, ledger, clock, settings, partner, lease } = at;
  const { withdrawAfterMs } = settings;
  const looked = nothingLooked(state.missing ?? nothingMissing, toBeFound);
  yield { is: 'looking', ...looked };
  const allowed = knownPace(partner.pace);
  // The other half of a minute's pace is left for other work.
  const most = Math.ceil(allowed / 2);
  const audit = { ...settings.audit, requests: Math.min(settings.audit.requests, most) };
  const nowMs = () => clock.now().epochMilliseconds;
  const began = nowMs();
  const before = await readCalendar(at);
  const asked = doubtful.flatMap(
    ({ assessment }) => before.unreadDayOf(assessment.certified_on) ?? [],
  );
  const begun = asking(before, asked, began);
  const plan = auditPlanOf(before, window.from, audit);
  const looksOf = (calendar: Calendar, { looking }: Done) => dueLooks(at, looking, calendar);
  const list = dueWork({
    calendar: begun,
    total: pulse.count,
    differs,
    searching: state.searching,
    cursor: state.cursor,
    recentFrom: window.from,
    auditRequests: audit.requests,
    turn: hasRoomForAll(state, allowed) ? 0 : Math.floor(began / 60_000),
    looks: dueLooks(at, looked, begun),
    waited: (kind, calendar, looks) =>
      kind === 'audit' && began < state.auditsFrom
        ? []
        : waited(
            kind,
            calendar,
            { ...plan, withdrawAfterMs },
            nowMs(),
            kind === 'soon' ? looks : [],
          ),
  });
  const reading = { looks: true, telling: tellingOf(settings, state) };
  const start = { calendar: begun, cursor: state.cursor };
  const { calendar, cursor, end } = yield* carryOut(at, reading, list, start, looksOf);
  await ledger.saveDays(stillAsked(before, calendar), lease);
  const { isAllLocated, hasSearched, searching, audited } = end;
  const { looking } = yield { is: 'calendar', unread: unreadSeen(calendar) };
  const missing = missingAfter(at, looking, calendar);
  const isBaselineTold =
    state.baseline.isNoticeOwed === true &&
    (yield* notified(at, baselineNotice(settings.name, calendar)));
  // A search that a whole tick has not narrowed starts again with all days, so that it cannot get
  // stuck.
  const hasStood = hasSearched && isDeepStrictEqual(searching, state.searching);
  yield {
    is: 'searched',
    searched: {
      ...{ began, calendar, cursor, plan, isAllLocated, missing, isBaselineTold },
      auditsFrom: audited > 0 ? savedUntil(audited, plan, nowMs()) : state.auditsFrom,
      searching: hasStood ? undefined : searching,
      // A certification that came or went during the search looks like an unexplained total. The next
      // search tells them apart.
      rest: isAllLocated && differs ? pulse.count - calendar.total : undefined,
    },
  };
}
