import * as z from 'zod/mini';
import type { Problem } from '../describe-error.ts';
import { inEnglish, problemsOf } from '../english.ts';
import { errorOf } from '../errors.ts';
import { events } from './contract/events.ts';
import { looking } from './contract/looking.ts';
import { steering } from './contract/steering.ts';

export * from './contract/common.ts';
export { mostOpenHours } from './contract/events.ts';
export * from './contract/looking.ts';

/**
 * Every command that the operate function carries out: what it is sent, and what it answers. Those that
 * change anything say `by` whom. What both sides of an invocation import.
 */
export const contract = { ...looking, ...steering, ...events };

type Contract = typeof contract;
export type CommandName = keyof Contract;
export type CommandOf<Name extends CommandName> = z.output<Contract[Name]['command']>;
export type Command = CommandOf<CommandName>;
/** What may be sent: settings with a default can be left out. */
export type CommandInput = z.input<Contract[CommandName]['command']>;
/** Which of the events that wait for ops. */
export type Selection = Omit<CommandOf<'holds'>, 'command' | 'after'>;
export type ResultOf<Name extends CommandName> = z.output<Contract[Name]['result']>;

/** What every command answers. */
export type Answer<Result = unknown> =
  | { readonly ok: true; readonly result: Result }
  | {
      readonly ok: false;
      readonly problem: Problem;
      /** What was done before it went wrong, if anything. */
      readonly result?: Result;
    };

/** The shapes of all answers, such that a command's name tells the type of its own. */
export const answers: {
  readonly [Name in CommandName]: { readonly result: z.ZodMiniType<ResultOf<Name>> };
} = contract;

/** Whether it changes anything, and is recorded: a proof or a replay may only look. */
export function isChanging(command: Command): boolean {
  if (command.command === 'prove') return command.now;
  if (command.command === 'replay') return !command.dryRun;
  return 'by' in contract[command.command].command.shape;
}

/** The function was sent something that is no command, or one with settings that it does not know. */
export class CommandInvalidError extends errorOf('command-invalid', 'ops') {
  readonly whatToDo = 'Correct the command: docs/commands.md describes each.';

  constructor(problems: readonly string[]) {
    super(`This is not a command: ${problems.join('; ')}.`);
  }
}

const isName = (name: unknown) => typeof name === 'string' && Object.hasOwn(contract, name);
const named = z.looseObject({
  command: z.custom<CommandName>(isName, {
    error: `must be one of ${Object.keys(contract).join(', ')}`,
  }),
});

/** @throws CommandInvalidError naming every problem */
export function parseCommand(input: unknown): Command {
  const name = named.safeParse(input, inEnglish);
  if (!name.success) throw new CommandInvalidError(problemsOf(name.error));
  const parsed = contract[name.data.command].command.safeParse(input, inEnglish);
  if (!parsed.success) throw new CommandInvalidError(problemsOf(parsed.error));
  return parsed.data;
}
