import type { Temporal } from 'temporal-polyfill';
import { isOlderAnswer } from '../detection/compare.ts';
import { attributeRest, movesElsewhere, separated } from '../detection/day-entries.ts';
import { judge } from '../detection/gate.ts';
import { locate } from '../detection/locate.ts';
import {
  allowance,
  forgotten,
  isAskedFor,
  mayGo,
  noted,
  sighted,
  withdrawing,
} from '../detection/missing.ts';
import type { State } from '../ports/state.ts';

/**
 * Another tick was at work between this one's first look at the state and its lease: what the pulse
 * showed may be older than what that tick committed.
 */
function isPulseOutdated(before: State, leased: State): boolean {
  return leased.heartbeat !== before.heartbeat || leased.dirtySince !== undefined;
}

/** Dated since the baseline's start day: news while the baseline runs. */
function isNewcomer(day: string, startDay: Temporal.PlainDate): boolean {
  return day >= startDay.toString();
}

/** Minutes after which a search is repeated once an hour. */
const oneHour = 64;

/**
 * A total that no day explains is searched for again after 1, 2, 4 … 64 minutes and every hour: a replica may have
 * answered for the days. Times are milliseconds since the epoch.
 *
 * @param lookedAt when a tick looked last
 */
function isSearchedAgain(since: number, lookedAt: number, now: number): boolean {
  const searches = (at: number) => {
    const minutes = Math.max(0.5, (at - since) / 60_000);
    return Math.floor(minutes < oneHour ? Math.log2(minutes) : 5 + minutes / 60);
  };
  return searches(now) > searches(lookedAt);
}

/** A read that was cut off, and cannot be gone on with, counts no day. */
function isReadCounted(wasInVain: boolean): boolean {
  return !wasInVain;
}

/**
 * Decisions that a tick asks for by name. `TickParts.rules` is this object, save where a test takes
 * one away to show that its absence is noticed (test/simulation/mutants.ts).
 */
export const rules = {
  allowance,
  attributeRest,
  forgotten,
  isAskedFor,
  mayGo,
  noted,
  sighted,
  withdrawing,
  isNewcomer,
  isOlderAnswer,
  isPulseOutdated,
  isReadCounted,
  isSearchedAgain,
  judge,
  locate,
  movesElsewhere,
  separated,
};

export type Rules = typeof rules;
