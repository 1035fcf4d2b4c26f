/**
 * The finding of one check. Its texts name counts, days, statuses and field names, but never a record's value.
 *
 * A fail is `proven` if a single answer contradicts the document. Otherwise it rests on several answers, between which
 * the host's data may have changed, so the check has to be repeated.
 */
export type CheckVerdict =
  | { readonly verdict: 'pass' }
  | {
      readonly verdict: 'fail';
      readonly expected: string;
      readonly seen: string;
      readonly proven: boolean;
    }
  | { readonly verdict: 'cannot tell'; readonly why: string; readonly unanswered: boolean };

export const pass: CheckVerdict = { verdict: 'pass' };

export function cannotTell(why: string): CheckVerdict {
  return { verdict: 'cannot tell', why, unanswered: false };
}

/** The host gave no usable answer, so the check was not carried out. */
export function unanswered(why: string): CheckVerdict {
  return { verdict: 'cannot tell', why, unanswered: true };
}

/** A single answer that contradicts the document. */
export function contradiction(expected: string, seen: string): CheckVerdict {
  return { verdict: 'fail', expected, seen, proven: true };
}

/** Several answers that contradict the document together, if nothing changed meanwhile. */
export function mismatch(expected: string, seen: string): CheckVerdict {
  return { verdict: 'fail', expected, seen, proven: false };
}

/** The first verdict that is no pass, if any. */
export function firstTrouble(verdicts: Iterable<CheckVerdict>): CheckVerdict {
  let undecided: CheckVerdict | undefined;
  for (const verdict of verdicts) {
    if (verdict.verdict === 'fail') return verdict;
    if (verdict.verdict === 'cannot tell') undecided ??= verdict;
  }
  return undecided ?? pass;
}
