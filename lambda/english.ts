import type * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';

/**
 * For input whose problems people read: zod/mini by itself says "Invalid input" to everything.
 * These texts name types and bounds, and never the received value.
 */
export const inEnglish = { error: en().localeError };

const MAX_PROBLEMS = 10;

/** Zod's own texts name types and bounds, and never the received value. */
export function problemsOf(error: z.core.$ZodError): string[] {
  const problems = error.issues
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message));
  const more = error.issues.length - problems.length;
  return more > 0 ? [...problems, `and ${more} more`] : problems;
}
