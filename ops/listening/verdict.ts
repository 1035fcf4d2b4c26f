import type { PostResult } from './post.ts';

/**
 * Seconds before each further attempt. SNS tries the stack's webhooks for three quarters of an hour, which is too long
 * for a developer.
 */
const waits: readonly number[] = [1, 5, 5, 5, 10, 20, 40];
export const mostAttempts = waits.length + 1;

export type PostVerdict =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'again'; readonly inSeconds: number }
  /** For SNS, the answer is final. */
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'given-up' };

/**
 * SNS's rule, as documented in "Amazon SNS message delivery retries": a 4xx is final, save for 429.
 *
 * @param attempt from 1
 */
export function verdictOf({ status }: PostResult, attempt: number): PostVerdict {
  if (typeof status === 'number') {
    if (status >= 200 && status < 300) return { outcome: 'delivered' };
    if (status >= 400 && status < 500 && status !== 429) return { outcome: 'refused' };
  }
  const inSeconds = waits[attempt - 1];
  return inSeconds === undefined ? { outcome: 'given-up' } : { outcome: 'again', inSeconds };
}
