import * as z from 'zod/mini';

/** Text that holds JSON. What cannot be read is an issue without a quotation, unlike a SyntaxError. */
export const jsonText = z.pipe(
  z.string(),
  z.transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.issues.push({ code: 'custom', message: 'not JSON', input: undefined });
      return z.NEVER;
    }
  }),
);
