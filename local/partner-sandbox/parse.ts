import type * as z from 'zod';
import { SandboxRequestError } from './errors.ts';

/** Parses a caller's input. @throws SandboxRequestError naming every problem. */
export function parseRequest<T>(schema: z.ZodType<T>, input: unknown): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw new SandboxRequestError(
    `${result.error.issues
      .map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '))
      .join('; ')}.`,
    { cause: result.error },
  );
}
