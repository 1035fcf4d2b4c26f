import * as z from 'zod';
import { type CommandName, contract } from '../lambda/commands/contract.ts';
import { idsAtOnce } from '../lambda/commands/shapes.ts';
import {
  flag,
  setting,
  type Words,
  worded,
  words as wordsOfShapes,
} from '../lambda/commands/words.ts';
import { UsageError } from './errors.ts';
import type { Continued } from './following.ts';
import { amount, harmlessJson } from './render/text.ts';

/** One setting of a command, as people give it. */
export interface Given {
  readonly name: string;
  readonly shape: z.core.$ZodType;
  readonly words: Words;
  readonly isRequired: boolean;
  /** It takes no value. */
  readonly isFlag: boolean;
  readonly isList: boolean;
  /** Its values, if they are few. */
  readonly choices: readonly string[];
}

/** The settings of a command, in the order of its help. */
export function givenIn({ shape: settings }: z.ZodObject): Given[] {
  return Object.entries(settings).map(([name, shape]) => {
    const bare = bareOf(shape);
    const isList = bare instanceof z.core.$ZodArray;
    const one = bareOf(isList ? bare._zod.def.element : bare);
    const choices =
      one instanceof z.core.$ZodEnum ? Object.values(one._zod.def.entries).map(String) : [];
    return {
      ...{ name, shape, isList, choices },
      words: { allowed: choices.join(', '), ...wordsOf(shape) },
      isRequired: !z.safeParse(shape, undefined).success,
      isFlag: bare instanceof z.core.$ZodBoolean,
    };
  });
}

/** `events-per-second` */
export const longOf = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * The settings of a command of the function that people give, under their names for people.
 *
 * @param isContinued whether an earlier call can give them
 */
export const settingsOf = (name: CommandName, isContinued = false) =>
  Object.fromEntries(
    told(name).map(({ option, shape, means }) => {
      if (means !== undefined) return [option, worded(z.boolean().default(false), wordsOf(shape))];
      return [option, isContinued ? z.optional(shape) : shape];
    }),
  );

/** The same settings under the function's names, without those that were not given. */
export function settingsFrom(name: CommandName, input: Readonly<Record<string, unknown>>) {
  const settings: Record<string, unknown> = {};
  for (const { setting, option, means } of told(name)) {
    const { [option]: value } = input;
    if (means === undefined ? value !== undefined : value === true)
      settings[setting] = means ?? value;
  }
  return settings;
}

/** The options of the command line that give these settings. */
export function optionsOf(name: CommandName, settings: Readonly<Record<string, unknown>>): string {
  const options = told(name).flatMap(({ setting, option, means }) => {
    const { [setting]: value } = settings;
    if (value === undefined) return [];
    return means === undefined ? [` --${longOf(option)} ${value}`] : [` --${longOf(option)}`];
  });
  return options.join('');
}

/** The settings of the function's command that have words for people. */
const told = (name: CommandName) =>
  Object.entries<z.core.$ZodType>(contract[name].command.shape).flatMap(([setting, shape]) => {
    const { describe, no, option = setting, means } = wordsOf(shape);
    return describe === undefined && no === undefined ? [] : [{ setting, shape, option, means }];
  });

/**
 * Reads a text as the value of a setting.
 *
 * @param earlier the values of the same list that were given before
 * @returns undefined if it is not allowed
 * @throws UsageError for more values than a command may name; it does not quote them, since they are many
 */
export function readText({ shape, words }: Given, given: string, earlier?: unknown): unknown {
  const bare = bareOf(shape);
  const text = given.trim();
  const value =
    words.read?.(text) ??
    (bare instanceof z.core.$ZodArray
      ? [
          ...(Array.isArray(earlier) ? earlier : []),
          ...(words.isRepeated ? [text] : text.split(',')).map((one) =>
            readOne(bare._zod.def.element, one.trim()),
          ),
        ]
      : readOne(bare, text));
  const parsed = z.safeParse(shape, value);
  if (parsed.success) return parsed.data;
  const isTooLong = parsed.error.issues.some(
    ({ code, path }) => code === 'too_big' && path.length === 0,
  );
  if (!Array.isArray(value) || !isTooLong) return undefined;
  throw new UsageError(
    `${amount(value.length)} ${words.value} are more than one command may name.`,
    `Allowed: ${amount(idsAtOnce)} at most. Give several commands for more.`,
  );
}

const readOne = (shape: z.core.$ZodType, text: string) =>
  shape instanceof z.core.$ZodNumber && /^\d{1,15}$/.test(text) ? Number(text) : text;

/** Agrees to a change before anybody asks. */
export const yes = { yes: flag('do not ask', { letter: 'y', isForPeople: true }) };

/** Output for a spreadsheet. Some read UTF-8 only behind a byte order mark, which other programs take for a letter. */
export const csvOf = (printed: string) => ({
  csv: flag(`print ${printed} (--json prints JSON)`, { isForPeople: true }),
  bom: setting(
    z.boolean().optional(),
    'begin CSV with a byte order mark (default: into a file only)',
    { no: 'begin it without one', isForPeople: true },
  ),
});

/** Resumes an earlier call, which has settled all options before this one. */
export const nextOf = (name: Continued) => ({
  next: setting(
    z
      .record(z.string(), z.json())
      .refine(
        (input) => z.safeParse(contract[name].command, { command: name, ...input }).success,
        `not as an earlier call of ${name} gave it`,
      )
      .optional(),
    'go on where an earlier call stopped, as it printed',
    {
      value: 'json',
      allowed: `the JSON that an earlier call of ${name} printed`,
      read: harmlessJson,
      excludes: 'earlier',
    },
  ),
});

const range = z.object({ from: z.string().optional(), to: z.string().optional() });

/** The first and the last of the given days. @throws UsageError if the last is before the first */
export function rangeIn(given: object) {
  const { from, to } = range.parse(given);
  if (from === undefined || to === undefined || from <= to) return { from, to };
  throw new UsageError(
    `--from ${from} is after --to ${to}.`,
    'Give the earlier day as --from and the later one as --to.',
  );
}

/** The words of a shape, and of those that it wraps. */
function wordsOf(shape: z.core.$ZodType): Words {
  const inner = innerOf(shape);
  return { ...(inner && wordsOf(inner)), ...wordsOfShapes.get(shape) };
}

/** The shape itself, which may be left out or have a default. */
function bareOf(shape: z.core.$ZodType): z.core.$ZodType {
  const inner = innerOf(shape);
  return inner === undefined ? shape : bareOf(inner);
}

const innerOf = (shape: z.core.$ZodType): z.core.$ZodType | undefined =>
  shape instanceof z.core.$ZodOptional || shape instanceof z.core.$ZodDefault
    ? shape._zod.def.innerType
    : undefined;
