import type { CommandName } from '../lambda/commands/contract.ts';
import { commands } from '../ops/commands/index.ts';
import { NotFoundError, UsageError } from '../ops/errors.ts';
import { givenIn, longOf, readText, settingsFrom, settingsOf } from '../ops/input.ts';
import type { OpsCommand } from '../ops/ops-command.ts';

/** A field for a setting of a command, or for its standard input. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly kind: 'text' | 'check' | 'secret' | 'argument';
  readonly isRequired: boolean;
  readonly choices: readonly string[];
}

/** A command as a form, made from the same definition as its help. */
export interface Form {
  readonly command: OpsCommand;
  readonly fields: readonly Field[];
}

/** The values of a form, or of an address. */
type Texts = Readonly<Record<string, string>>;

/** The forms of all commands that end by themselves. */
export const forms = (): readonly Form[] =>
  commands
    .filter(({ isEndless }) => !isEndless)
    .map((command) => ({ command, fields: fieldsOf(command) }));

/** @throws NotFoundError */
export function formOf(path: string | undefined): Form {
  const form = forms().find(({ command }) => formPath(command) === path);
  if (form !== undefined) return form;
  throw new NotFoundError('There is no such command.', 'The page of commands has all of them.');
}

/** By its path in an address: `credentials-set`. */
export const formPath = ({ usage }: OpsCommand): string => usage.replaceAll(' ', '-');

function fieldsOf({ input, reads = [] }: OpsCommand): Field[] {
  const settings = givenIn(input).flatMap(({ name, words, ...given }): Field[] => {
    const { isRequired, isFlag, isList } = given;
    const kind = words.isArgument ? 'argument' : isFlag ? 'check' : 'text';
    // A menu cannot give several values.
    const choices = isList ? [] : given.choices;
    const named = (name: string, description: string): Field => ({
      ...{ name, label: inWords(name), description, kind, isRequired, choices },
    });
    return [
      ...(words.describe === undefined ? [] : [named(name, words.describe)]),
      ...(words.no === undefined ? [] : [named(oppositeOf(name), words.no)]),
    ];
  });
  const read = reads.map(({ name, label, isSecret }): Field => {
    const kind = isSecret ? 'secret' : 'text';
    return { name, label, description: '', kind, isRequired: true, choices: [] };
  });
  // The console has its own question.
  return [...settings.filter(({ name }) => name !== 'yes'), ...read];
}

/** `events per second` */
const inWords = (name: string) => longOf(name).replaceAll('-', ' ');
const oppositeOf = (name: string) => `no${name.charAt(0).toUpperCase()}${name.slice(1)}`;

/**
 * The command line of a filled form. A value stands in one argument with its flag, or behind `--`: so no typed text can
 * become another option.
 */
export function argvOf({ command, fields }: Form, given: Texts): readonly string[] {
  const read = new Set(command.reads?.map(({ name }) => name));
  const values = fields
    .map((field) => ({ ...field, value: given[field.name]?.trim() ?? '' }))
    .filter(({ name, value }) => value !== '' && !read.has(name));
  const named = values.filter(({ kind }) => kind === 'argument').map(({ value }) => value);
  const options = values
    .filter(({ kind }) => kind !== 'argument')
    .map(({ name, kind, value }) => `--${longOf(name)}${kind === 'check' ? '' : `=${value}`}`);
  return [...command.usage.split(' '), ...options, ...(named.length > 0 ? ['--', ...named] : [])];
}

/** Standard input of the command; empty where it reads none. */
export function inputOf({ command: { reads } }: Form, given: Texts): string {
  if (reads === undefined) return '';
  return JSON.stringify(Object.fromEntries(reads.map(({ name }) => [name, given[name] ?? ''])));
}

/**
 * Reads the settings of a command from an address.
 *
 * @throws UsageError for invalid values
 */
export function settingsGiven(
  { input }: OpsCommand,
  given: Texts,
): Readonly<Record<string, unknown>> {
  const settings = givenIn(input).flatMap((one) => {
    const text = given[one.name]?.trim() ?? '';
    if (text === '') return [];
    const value = one.isFlag ? true : readText(one, text);
    if (value !== undefined) return [[one.name, value]];
    throw new UsageError(
      `${inWords(one.name)} cannot be ${text}.`,
      `Allowed: ${one.words.allowed}.`,
    );
  });
  return Object.fromEntries(settings);
}

/** The same under the names of the function's command. */
export const settingsAsked = (name: CommandName, command: OpsCommand, given: Texts) =>
  settingsFrom(name, settingsGiven(command, given));

/** The texts in an address that are settings of the function's command. */
export const filterIn = (name: CommandName, given: Texts): Record<string, string> =>
  Object.fromEntries(
    Object.keys(settingsOf(name)).flatMap((one) => (given[one] ? [[one, given[one]]] : [])),
  );

/** Parses a command with its options, as an advice names it: its path, and the values of its form. */
export function formFilled(line: string): {
  readonly command: OpsCommand;
  readonly filled: Texts;
} {
  const form = forms().find(({ command: { usage } }) => `${line} `.startsWith(`${usage} `));
  if (form === undefined)
    throw new NotFoundError(`There is no command ${line}.`, 'This is a defect.');
  const { command, fields } = form;
  const rest = line.slice(command.usage.length);
  const options = new Map(
    [...rest.matchAll(/--([a-z-]+)(?:[ =](?!--)(\S+))?/g)].map(([, long, value = 'yes']) => [
      long,
      value,
    ]),
  );
  const [, argument] = /^ (?!--)(\S+)/.exec(rest) ?? [];
  const filled = fields.flatMap(({ name, kind }) => {
    const value = kind === 'argument' ? argument : options.get(longOf(name));
    return value === undefined ? [] : [[name, value]];
  });
  return { command, filled: Object.fromEntries(filled) };
}
