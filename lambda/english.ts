import type * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';

/**
 * For parsing what somebody reads the problems of: zod/mini by itself says "Invalid input" to
 * everything. It names types and bounds, never what was received in their place.
 */
export const inEnglish = { error: en().localeError };

const MAX_PROBLEMS = 10;

/** Zod's own messages name types and bounds, never what was received in their place. */
export function problemsOf(error: z.core.$ZodError): string[] {
  const problems = error.issues
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message));
  const more = error.issues.length - problems.length;
  return more > 0 ? [...problems, `and ${more} more`] : problems;
}
