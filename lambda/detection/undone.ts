import type { Certification, Change } from './compare.ts';

/** What subscribers know of a certification, in short: nothing, that it is withdrawn, or what it was like. */
export type Told = string;

const nothing = 'nothing';
const withdrawn = 'withdrawn';

/** @param before what was known before an event that is held */
export function toldOf(before: Certification | undefined): Told {
  if (before === undefined || before.isUntold) return nothing;
  return before.presence === 'withdrawn' ? withdrawn : before.fingerprint.whole;
}

/** Whether a certification is again as subscribers were last told: whoever was told nothing need not hear that it has gone. */
export function isUndone(told: Told, change: Change): boolean {
  if (change.kind === 'withdrawn') return told === withdrawn || told === nothing;
  return told === change.fingerprint.whole;
}

export const isNothing = (told: Told): boolean => told === nothing;
