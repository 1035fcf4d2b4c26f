import { type Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { contract } from '../lambda/commands/contract.ts';
import { mostOpenHours } from '../lambda/commands/deciding.ts';
import { delivery } from '../lambda/commands/lives.ts';
import { idsAtOnce } from '../lambda/commands/shapes.ts';
import { UsageError } from './errors.ts';
import type { Continued } from './following.ts';
import { amount, harmlessJson } from './render/text.ts';

/** Checks and converts the value of an option; the error lists the allowed values. */
function checked<T>(allowed: string, schema: z.ZodType<T, string>): (text: string) => T {
  return (text) => {
    const value = schema.safeParse(text.trim());
    if (value.success) return value.data;
    throw new InvalidArgumentError(`Allowed: ${allowed}.`);
  };
}

/**
 * The same for a list such as `1,2,3`; the option may also be repeated.
 *
 * @throws UsageError for more values than a command may name; it does not quote them, since they are many
 */
function listOf<T>(allowed: string, schema: z.ZodType<T, string>, of: string) {
  const one = checked(allowed, schema);
  return (text: string, earlier: readonly T[] = []): readonly T[] => {
    const all = [...earlier, ...text.split(',').map(one)];
    if (all.length <= idsAtOnce) return all;
    throw new UsageError(
      `${amount(all.length)} ${of} are more than one command may name.`,
      `Allowed: ${amount(idsAtOnce)} at most. Give several commands for more.`,
    );
  };
}

const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);
const positive = wholeNumber.pipe(z.int().positive());

export const day = checked('a day, such as 2026-11-21', z.string().pipe(z.iso.date()));
export const positiveNumber = checked('a whole number from 1', positive);
export const anyNumber = checked('a whole number from 0', wholeNumber);
export const ids = listOf('whole numbers from 1, with commas between them', positive, 'ids');
export const years = listOf(
  'years, such as 2026, with commas between them',
  positive.pipe(z.number().max(9999)),
  'years',
);
export const sentence = checked(
  'a sentence of 1 to 200 characters',
  z.string().refine((reason) => isTaken(contract.pause, { command: 'pause', reason })),
);
export const assessmentName = checked(
  'a name of 1 to 200 characters',
  z
    .string()
    .refine((assessment_name) =>
      isTaken(contract['test-event'], { command: 'test-event', assessment_name }),
    ),
);
/** The option is repeated, since a name may have commas. */
export const assessmentNames = (
  text: string,
  earlier: readonly string[] = [],
): readonly string[] => [...earlier, assessmentName(text)];
export const queueArn = checked(
  'the ARN of an SQS queue, such as arn:aws:sqs:us-east-1:111122223333:certifications',
  z
    .string()
    .refine((arn) => isTaken(contract.replay, { command: 'replay', days: {}, to: { queue: arn } })),
);

/** Only the contract knows which values the function takes. */
function isTaken({ command }: { command: z.core.$ZodType }, example: object): boolean {
  return z.safeParse(command, example).success;
}

const deliveryWord = z.enum(delivery.options);
const kind = z.enum(['created', 'updated', 'withdrawn', 'restored']);
const kinds = listOf(kind.options.join(', '), z.string().pipe(kind), 'types');
/** Sets the choices only for completion and help: the parser takes lists of them. */
export function typeOption(description: string): Option {
  const option = new Option('--type <types>', description).argParser(kinds);
  option.argChoices = [...kind.options];
  return option;
}
const deliveries = listOf(delivery.options.join(', '), z.string().pipe(deliveryWord), 'words');
export function deliveryOption(description: string): Option {
  const option = new Option('--delivery <words>', description).argParser(deliveries);
  option.argChoices = [...delivery.options];
  return option;
}
export const deliveriesSchema = z.array(deliveryWord).optional();
export const kindsSchema = z.array(kind).optional();

/** Parses `next` of an answer to this command. */
const next = (command: Continued) =>
  checked(
    'the JSON that an earlier call printed',
    z.string().transform((text, context) => {
      const input = harmlessJson(text);
      const given = nextSchema.safeParse(input);
      if (given.data !== undefined && isTaken(contract[command], { ...given.data, command }))
        return given.data;
      context.addIssue('not as it was printed');
      return z.NEVER;
    }),
  );
export const nextSchema = z.record(z.string(), z.json()).optional();

/**
 * Adds `--next`, which resumes an earlier call. That call has settled the options that are declared so far, so `--next`
 * excludes them.
 */
export const addNext = (name: Continued, command: Command) =>
  command.addOption(
    new Option('--next <json>', 'go on where an earlier call stopped, as it printed')
      .argParser(next(name))
      .conflicts(command.options.map((option) => option.attributeName())),
  );

/** Output for a spreadsheet. Some read UTF-8 only behind a byte order mark, which other programs take for a letter. */
export const addCsv = (command: Command, printed: string) =>
  command
    .option('--csv', `print ${printed} (--json prints JSON)`)
    .option('--bom', 'begin CSV with a byte order mark (default: into a file only)')
    .option('--no-bom', 'begin it without one');
export const csvSettings = { csv: z.boolean().default(false), bom: z.boolean().optional() };

/** @throws UsageError if the last day is before the first */
export function refuseBackwards(from: string | undefined, to: string | undefined): void {
  if (from === undefined || to === undefined || from <= to) return;
  throw new UsageError(
    `--from ${from} is after --to ${to}.`,
    'Give the earlier day as --from and the later one as --to.',
  );
}

export const yes = () => new Option('-y, --yes', 'do not ask');

/** The whole hours in which the gate lets everything through. */
export const openHours = () =>
  new Option('--for <hours>', 'hold no new event for so long, such as 12h; 0h ends that').argParser(
    checked(
      `0h to ${mostOpenHours}h`,
      z
        .string()
        .regex(/^\d{1,2}h$/)
        .transform((text) => Number.parseInt(text, 10))
        .pipe(z.number().max(mostOpenHours)),
    ),
  );

export const eventsPerSecond = () =>
  new Option('--events-per-second <number>', '1 to 1000 (default: 50)').argParser(
    checked('1 to 1000', positive.pipe(z.number().max(1000))),
  );

export const port = checked(
  'a port, from 0 to 65535; 0 is any that is free',
  wholeNumber.pipe(z.number().max(65_535)),
);
