import { InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';

/** Checks and converts the value of an option, and says what is allowed. */
function checked<T>(allowed: string, schema: z.ZodType<T, string>): (text: string) => T {
  return (text) => {
    const value = schema.safeParse(text.trim());
    if (value.success) return value.data;
    throw new InvalidArgumentError(`Allowed: ${allowed}.`);
  };
}

/** The same for `1,2,3`; the option may also be given several times. */
function listOf<T>(allowed: string, schema: z.ZodType<T, string>) {
  const one = checked(allowed, schema);
  return (text: string, earlier: readonly T[] = []): readonly T[] => [
    ...earlier,
    ...text.split(',').map(one),
  ];
}

const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);
const positive = wholeNumber.pipe(z.int().positive());

export const day = checked('a day, such as 2026-11-21', z.string().pipe(z.iso.date()));
export const positiveNumber = checked('a whole number from 1', positive);
export const anyNumber = checked('a whole number from 0', wholeNumber);
export const ids = listOf('whole numbers from 1, with commas between them', positive);

const kind = z.enum(['created', 'updated', 'withdrawn', 'restored']);
export const kinds = listOf(kind.options.join(', '), z.string().pipe(kind));

/** `next` of an answer. */
const next = checked(
  'the JSON that an earlier call printed',
  z.string().transform((text, context) => {
    try {
      return z.record(z.string(), z.json()).parse(JSON.parse(text));
    } catch {
      context.addIssue('not JSON');
      return z.NEVER;
    }
  }),
);

/** That a change is agreed to. */
export const yes = () => new Option('-y, --yes', 'do not ask');
/**
 * Goes on where an earlier call stopped.
 * @param others what that call has settled, and is not to be said again
 */
export const nextOption = (others: string[]) =>
  new Option('--next <json>', 'go on where an earlier call stopped, as it printed')
    .argParser(next)
    .conflicts(others);

export const eventsPerSecond = () =>
  new Option('--events-per-second <number>', '1 to 1000 (default: 50)').argParser(
    checked('1 to 1000', positive.pipe(z.number().max(1000))),
  );
