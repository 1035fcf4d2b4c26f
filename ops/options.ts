import { type Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { mostOpenHours } from '../lambda/operations/commands/deciding.ts';
import { contract } from '../lambda/operations/contract.ts';
import { delivery } from '../lambda/operations/lives.ts';
import { idsAtOnce } from '../lambda/operations/shapes.ts';
import { UsageError } from './errors.ts';
import type { Continued } from './following.ts';
import { amount, harmlessJson } from './render/text.ts';

/** Checks and converts the value of an option, and says what is allowed. */
function checked<T>(allowed: string, schema: z.ZodType<T, string>): (text: string) => T {
  return (text) => {
    const value = schema.safeParse(text.trim());
    if (value.success) return value.data;
    throw new InvalidArgumentError(`Allowed: ${allowed}.`);
  };
}

/**
 * The same for `1,2,3`; the option may also be given several times.
 *
 * @throws UsageError for more of them than a command may name: to repeat what was given would help nobody
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
/** Given several times: a name may have commas. */
export const assessmentNames = (
  text: string,
  earlier: readonly string[] = [],
): readonly string[] => [...earlier, assessmentName(text)];
export const queue = checked(
  'the ARN of an SQS queue, such as arn:aws:sqs:us-east-1:111122223333:certifications',
  z
    .string()
    .refine((arn) => isTaken(contract.replay, { command: 'replay', days: {}, to: { queue: arn } })),
);

/** What the function takes is known to one place: the contract. */
function isTaken({ command }: { command: z.core.$ZodType }, example: object): boolean {
  return z.safeParse(command, example).success;
}

const deliveryWord = z.enum(delivery.options);
const kind = z.enum(['created', 'updated', 'withdrawn', 'restored']);
const kinds = listOf(kind.options.join(', '), z.string().pipe(kind), 'types');
/** By types of events; a shell can offer these. */
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

/** `next` of an answer to this command. */
const next = (command: Continued) =>
  checked(
    'the JSON that an earlier call printed',
    z.string().transform((text, context) => {
      const input = harmlessJson(text);
      const given = nextSchema.safeParse(input);
      if (given.data !== undefined && isTaken(contract[command], { ...given.data, command }))
        return given.data;
      context.addIssue('not what was printed');
      return z.NEVER;
    }),
  );
export const nextSchema = z.record(z.string(), z.json()).optional();

/**
 * Goes on where an earlier call stopped: what the options so far say, that call has settled, and it is
 * not to be said again.
 */
export const addNext = (name: Continued, command: Command) =>
  command.addOption(
    new Option('--next <json>', 'go on where an earlier call stopped, as it printed')
      .argParser(next(name))
      .conflicts(command.options.map((option) => option.attributeName())),
  );

/** @throws UsageError for days the wrong way round, which no command takes */
export function refuseBackwards(from: string | undefined, to: string | undefined): void {
  if (from === undefined || to === undefined || from <= to) return;
  throw new UsageError(
    `--from ${from} is after --to ${to}.`,
    'Give the earlier day as --from and the later one as --to.',
  );
}

/** That a change is agreed to. */
export const yes = () => new Option('-y, --yes', 'do not ask');

/** For which everything is let through: whole hours. */
export const openHours = () =>
  new Option('--for <hours>', 'hold nothing new for so long, such as 12h; 0h: as ever').argParser(
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
