import { isNewcomer } from '../detection/baseline.ts';
import { compare } from '../detection/compare.ts';
import { attributeRest, movesElsewhere, separated } from '../detection/day-entries.ts';
import { isReadCounted } from '../detection/days-read.ts';
import { judge } from '../detection/gate.ts';
import { isPulseOutdated, isSearchedAgain, locate } from '../detection/locate.ts';
import {
  allowance,
  forgotten,
  isAskedFor,
  mayGo,
  noted,
  sighted,
  withdrawing,
} from '../detection/missing.ts';

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
