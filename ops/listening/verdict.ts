import type { Answer } from './post.ts';

/**
 * Seconds before each further attempt. SNS goes on for three quarters of an hour with the stack's webhooks; whoever
 * develops one does not wait for that.
 */
const waits: readonly number[] = [1, 5, 5, 5, 10, 20, 40];
export const mostAttempts = waits.length + 1;

/** What becomes of a message. */
export type Verdict =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'again'; readonly inSeconds: number }
  /** SNS takes the answer for final. */
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'given-up' };

/**
 * As SNS documents it ("Amazon SNS message delivery retries"): a 4xx is the endpoint's last word, save for 429.
 *
 * @param attempt from 1
 */
export function verdictOf({ status }: Answer, attempt: number): Verdict {
  if (typeof status === 'number') {
    if (status >= 200 && status < 300) return { outcome: 'delivered' };
    if (status >= 400 && status < 500 && status !== 429) return { outcome: 'refused' };
  }
  const inSeconds = waits[attempt - 1];
  return inSeconds === undefined ? { outcome: 'given-up' } : { outcome: 'again', inSeconds };
}
