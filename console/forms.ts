import { type Argument, type Command, InvalidArgumentError, type Option } from 'commander';
import { commands } from '../ops/commands/index.ts';
import { NotFoundError, UsageError } from '../ops/errors.ts';
import type { OpsCommand } from '../ops/ops-command.ts';
import { buildProgram } from '../ops/program.ts';

/** A field for an option or an argument of a command, or for its standard input. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly kind: 'text' | 'check' | 'secret' | 'argument';
  readonly isRequired: boolean;
  readonly choices: readonly string[];
  /** Absent: an argument, or a field of standard input. */
  readonly flag?: string | undefined;
}

/** A command as a form, made from the same declaration as its help. */
export interface Form {
  readonly command: OpsCommand;
  readonly fields: readonly Field[];
}

/** The console has its own question. */
const leftOut: ReadonlySet<string> = new Set(['yes']);

/** The forms of all commands that end by themselves. */
export function forms(): readonly Form[] {
  const program = buildProgram();
  return commands
    .filter(({ isEndless }) => !isEndless)
    .map((command) => ({ command, fields: fieldsOf(command, declared(program, command)) }));
}

/** @throws NotFoundError */
export function formOf(path: string | undefined): Form {
  const form = forms().find(({ command }) => formPath(command) === path);
  if (form !== undefined) return form;
  throw new NotFoundError('There is no such command.', 'The page of commands has all of them.');
}

/** By its path in an address: `credentials-set`. */
export const formPath = ({ usage }: OpsCommand): string => usage.replaceAll(' ', '-');

function declared(program: Command, { usage }: OpsCommand): Command {
  return usage
    .split(' ')
    .reduce(
      (parent, name) => parent.commands.find((one) => one.name() === name) ?? parent,
      program,
    );
}

function fieldsOf(command: OpsCommand, { options, registeredArguments }: Command): Field[] {
  const reads = (command.reads ?? []).map(
    ({ name, label, isSecret }): Field => ({
      name,
      label,
      description: '',
      kind: isSecret ? 'secret' : 'text',
      isRequired: true,
      choices: [],
    }),
  );
  return [
    ...registeredArguments.map(ofArgument),
    ...options.filter((option) => !leftOut.has(option.attributeName())).map(ofOption),
    ...reads,
  ];
}

function ofArgument(argument: Argument): Field {
  return {
    name: argument.name(),
    label: argument.name(),
    description: argument.description,
    kind: 'argument',
    isRequired: argument.required,
    choices: argument.argChoices ?? [],
  };
}

function ofOption(option: Option): Field {
  const takesValue = option.required || option.optional;
  return {
    name: option.attributeName(),
    label: option.flags,
    description: option.description,
    kind: takesValue ? 'text' : 'check',
    isRequired: option.mandatory,
    // An option with a list takes several of its choices, which a menu cannot give.
    choices: takesValue && option.flags.endsWith('s>') ? [] : (option.argChoices ?? []),
    flag: option.long,
  };
}

/**
 * The command line of a filled form. A value stands in one argument with its flag, or behind `--`: so no typed text can
 * become another option.
 */
export function argvOf(
  { command, fields }: Form,
  given: Readonly<Record<string, string>>,
): readonly string[] {
  const values = fields.flatMap((field) => {
    const value = given[field.name]?.trim() ?? '';
    return value === '' ? [] : [{ ...field, value }];
  });
  const options = values.flatMap(({ flag, kind, value }) => {
    if (flag === undefined) return [];
    return [kind === 'check' ? flag : `${flag}=${value}`];
  });
  const named = values.filter(({ kind }) => kind === 'argument').map(({ value }) => value);
  return [...command.usage.split(' '), ...options, ...(named.length > 0 ? ['--', ...named] : [])];
}

/** Standard input of the command; empty where it reads none. */
export function inputOf(
  { command: { reads } }: Form,
  given: Readonly<Record<string, string>>,
): string {
  if (reads === undefined) return '';
  return JSON.stringify(Object.fromEntries(reads.map(({ name }) => [name, given[name] ?? ''])));
}

/**
 * Reads options and arguments of a command from an address, in the form of its settings.
 *
 * @throws UsageError for invalid values
 */
export function settingsGiven(
  command: OpsCommand,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const { options, registeredArguments } = declared(buildProgram(), command);
  const all = [
    ...options.map((one) => ({
      name: one.attributeName(),
      label: one.flags,
      parse: one.isBoolean() ? () => true : one.parseArg,
    })),
    ...registeredArguments.map((one) => ({
      name: one.name(),
      label: one.name(),
      parse: one.parseArg,
    })),
  ];
  return Object.fromEntries(
    all.flatMap(({ name, label, parse }) => {
      const text = given[name]?.trim() ?? '';
      return text === '' ? [] : [[name, parse === undefined ? text : taken(label, text, parse)]];
    }),
  );
}

type Parse = (text: string, before: unknown) => unknown;

function taken(label: string, text: string, parse: Parse): unknown {
  try {
    return parse(text, undefined);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new UsageError(`${label} cannot be ${text}.`, error.message);
  }
}

/** Parses a command with its options, as an advice names it: its path, and the values of its form. */
export function formFilled(line: string): {
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
} {
  const form = forms().find(({ command: { usage } }) => `${line} `.startsWith(`${usage} `));
  if (form === undefined)
    throw new NotFoundError(`There is no command ${line}.`, 'This is a defect.');
  const { command, fields } = form;
  const words = line.slice(command.usage.length).trim().split(/[ =]/).filter(Boolean);
  const filled = fields.flatMap(({ name, flag, kind }): [string, string][] => {
    const at = flag === undefined ? -1 : words.indexOf(flag);
    if (at < 0) return [];
    return [[name, kind === 'check' ? 'yes' : (words[at + 1] ?? '')]];
  });
  return { path: formPath(command), fields: Object.fromEntries(filled) };
}
