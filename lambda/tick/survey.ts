import { isDeepStrictEqual } from 'node:util';
import type { Temporal } from 'temporal-polyfill';
import { auditsDue, isAuditDue } from '../detection/audit.ts';
import { Calendar, type Proof } from '../detection/calendar.ts';
import { daysIn, type RecentWindow } from '../detection/days.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import type { State, StateChanges } from '../ports/state.ts';
import type { Announcement } from './announcement.ts';
import { tellOfCompletion } from './baseline.ts';
import type { Conditions } from './conditions.ts';
import { Examination } from './examination.ts';
import type { Looks } from './looks.ts';
import type { TickParts } from './parts.ts';
import type { Quarantine } from './quarantine.ts';
import { Search } from './search.ts';
import type { TimeLimit } from './time-limit.ts';

export interface SurveyContext {
  readonly parts: TickParts;
  readonly announcement: Announcement;
  readonly conditions: Conditions;
  readonly quarantine: Quarantine;
  readonly limit: TimeLimit;
  readonly window: RecentWindow;
  readonly state: State;
  /** Some days differ: what the newest page shows does not explain the total, or an earlier tick has not come to its end. */
  readonly differs: boolean;
  readonly looks: Looks;
}

export interface Surveyed {
  readonly changes: Partial<StateChanges>;
  /** Everything that differs was found and committed. */
  readonly isAll: boolean;
  /** And the total is what it should be, or is known to lie. */
  readonly isExplained: boolean;
  /** Days read, as part of a longer stretch as well. */
  readonly examined: number;
  readonly proofs: ProofCounts;
}

/** Days, by what proves that nothing was overlooked. */
export type ProofCounts = Readonly<Partial<Record<Proof['kind'] | 'none', number>>>;

/**
 * Beyond the newest page: locates and examines the days that differ, and goes on with the one that did
 * not fit into an earlier tick, or proves again those that were proven longest ago.
 */
export async function survey(context: SurveyContext, pulse: PulseRead): Promise<Surveyed> {
  const { parts, announcement, conditions, quarantine, limit, window, state, looks } = context;
  const { ledger, clock, settings } = parts;
  const began = clock.now();
  const { years } = await ledger.state();
  const examination = new Examination(
    {
      parts,
      announcement,
      limit,
      salt: state.salt,
      looks: context.looks,
    },
    new Calendar(await ledger.calendar(years), daysIn(window)),
    state.bookmark,
  );
  const search = new Search(parts, window, limit, examination);
  const isAllLocated = !context.differs || (await search.differences(pulse.count, state.trail));
  let overspent = 0;
  if (examination.bookmark) await search.resume(examination.bookmark);
  else {
    const isForLooks = !isAuditDue(state, clock.now().epochMilliseconds);
    overspent = await search.audit(settings.audit.requests, looks, isForLooks);
  }

  const { bookmark, calendar } = examination;
  quarantine.add(examination.quarantined);
  const missing = looks.conclude(calendar);
  const isToldNow = state.baseline.isNoticeOwed && (await tellOfCompletion(parts, calendar));
  const isMended = await conditions.examined(calendar, quarantine.size);
  await conditions.missing(missing);
  const unexplained = isAllLocated
    ? await unexplainedBy(context, pulse.count, calendar)
    : undefined;
  // Days that cannot be read in a whole tick must not keep ticks from all others.
  const trail = isDeepStrictEqual(search.trail, state.trail) ? undefined : search.trail;
  return {
    changes: {
      ...calendarLearned(calendar, window, settings),
      ...(overspent > 0 && { auditsFrom: savedUntil(overspent, clock.now(), settings) }),
      ...(isToldNow && { baseline: { ...state.baseline, isNoticeOwed: false } }),
      ...(isMended && state.reported.length > 0 && { reported: [] }),
      ...(bookmark !== state.bookmark && { bookmark: bookmark ?? null }),
      ...(trail !== state.trail && { trail: trail ?? null }),
      ...(unexplained !== undefined && { unexplained }),
      missing: missing ?? null,
    },
    isAll: isAllLocated,
    isExplained: unexplained !== undefined,
    examined: examination.examined,
    proofs: proofsSince(began, calendar),
  };
}

/**
 * By how much the total differs although no day does: one that is new is believed if the partner still
 * says that total.
 *
 * @returns `undefined` if it does not
 */
async function unexplainedBy(
  { parts, limit, state, differs }: SurveyContext,
  total: number,
  calendar: Calendar,
): Promise<number | undefined> {
  const unexplained = total - calendar.total;
  const known = parts.rules.knownUnexplained(unexplained, state.unexplained, differs);
  if (known !== undefined) return known;
  const now = await limit.ask((deadline) => parts.partner.count({}, deadline));
  if (now === calendar.total) return 0;
  return now === total ? unexplained : undefined;
}

/** What the state keeps of a calendar. */
export function calendarLearned(
  calendar: Calendar,
  window: RecentWindow,
  { audit }: Pick<TickParts['settings'], 'audit'>,
): Pick<StateChanges, 'expected' | 'recentAuditAt' | 'historyAuditAt'> {
  const recent = calendar.positionOf(window.from.toString());
  return { expected: calendar.total, ...auditsDue(calendar, recent, audit) };
}

/** By how much the audits went over their budget, later ticks save: counted as one a minute. */
function savedUntil(
  overspent: number,
  now: Temporal.Instant,
  { audit }: TickParts['settings'],
): number {
  const minutes = Math.ceil(overspent / Math.max(1, audit.requests));
  return now.epochMilliseconds + minutes * 60_000;
}

function proofsSince(began: Temporal.Instant, calendar: Calendar): ProofCounts {
  const proofs: { -readonly [Kind in keyof ProofCounts]: number } = {};
  for (const { readAt, proof } of calendar.days.map((day) => calendar.entry(day)))
    if (readAt >= began.epochMilliseconds)
      proofs[proof?.kind ?? 'none'] = (proofs[proof?.kind ?? 'none'] ?? 0) + 1;
  return proofs;
}
