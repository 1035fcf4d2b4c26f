import type { Temporal } from 'temporal-polyfill';
import { compare } from '../detection/compare.ts';
import { attributeRest, movesElsewhere, separated } from '../detection/day-entries.ts';
import { judge } from '../detection/gate.ts';
import { isSearchedAgain, locate } from '../detection/locate.ts';
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
  compare,
  forgotten,
  isAskedFor,
  mayGo,
  noted,
  sighted,
  withdrawing,
  isNewcomer,
  isPulseOutdated,
  isReadCounted,
  isSearchedAgain,
  judge,
  locate,
  movesElsewhere,
  separated,
};

export type Rules = typeof rules;
