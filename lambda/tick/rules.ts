/**
 * The decisions that a tick calls by name, as `TickParts.rules`.
 */
export { isNewcomer } from '../detection/baseline.ts';
export { compare, stillAgreed } from '../detection/compare.ts';
export { attributeRest, movesElsewhere, separated } from '../detection/day-entries.ts';
export { isReadCounted } from '../detection/days-read.ts';
export { judge } from '../detection/gate.ts';
export { isPulseOutdated, isSearchedAgain, locate } from '../detection/locate.ts';
export {
  allowance,
  forgotten,
  isAskedFor,
  mayGo,
  noted,
  sighted,
  withdrawing,
} from '../detection/missing.ts';
