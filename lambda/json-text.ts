import * as z from 'zod';

/** Text that holds JSON. What cannot be read is an issue without a quotation, unlike a SyntaxError. */
export const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'not JSON' });
    return z.NEVER;
  }
});
