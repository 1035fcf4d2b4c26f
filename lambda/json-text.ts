import * as z from 'zod/mini';

/**
 * Text that holds JSON, also behind a byte order mark or within blanks. The issue of unreadable text
 * has no quotation, unlike a SyntaxError.
 */
export const jsonText = z.pipe(
  z.string(),
  z.transform((text, context): unknown => {
    try {
      return JSON.parse(text.trim());
    } catch {
      context.issues.push({ code: 'custom', message: 'not JSON', input: undefined });
      return z.NEVER;
    }
  }),
);
