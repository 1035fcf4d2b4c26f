/**
 * The finding of one check. Its texts name counts, days, statuses and field names, but never a record's value.
 *
 * A fail is `proven` if a single answer contradicts the document. Otherwise it rests on several answers, between which
 * the host's data may have changed, so the check has to be repeated.
 */
export type CheckVerdict =
  /** Where the document leaves a question open, with the answer. */
  | { readonly verdict: 'pass'; readonly seen?: string }
  | {
      readonly verdict: 'fail';
      readonly expected: string;
      readonly seen: string;
      readonly proven: boolean;
    }
  /** `unanswered`: the check was not carried out. */
  | { readonly verdict: 'cannot tell'; readonly why: string; readonly unanswered: boolean };

export const pass: CheckVerdict = { verdict: 'pass' };

export const observed = (seen: string): CheckVerdict => ({ verdict: 'pass', seen });

export function cannotTell(why: string): CheckVerdict {
  return { verdict: 'cannot tell', why, unanswered: false };
}

/** A single answer that contradicts the document. */
export function contradiction(expected: string, seen: string): CheckVerdict {
  return { verdict: 'fail', expected, seen, proven: true };
}

/** Several answers that contradict the document together, if nothing changed meanwhile. */
export function mismatch(expected: string, seen: string): CheckVerdict {
  return { verdict: 'fail', expected, seen, proven: false };
}

export const noRecords = cannotTell('there are no records');
