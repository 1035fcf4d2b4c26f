import * as z from 'zod/mini';
import type { Problem } from '../describe-error.ts';
import { inEnglish, problemsOf } from '../english.ts';
import { errorOf } from '../errors.ts';
import { acceptTotal } from './accept-total.ts';
import { check } from './check.ts';
import { credentialsStored } from './credentials-stored.ts';
import { discard, release } from './deciding.ts';
import type { Definition } from './definition.ts';
import { events } from './events.ts';
import { explain } from './explain.ts';
import { holds } from './holds.ts';
import { pause, resume } from './pause.ts';
import { prove } from './prove.ts';
import { replay } from './replay.ts';
import { restartBaseline } from './restart-baseline.ts';
import { status } from './status.ts';
import { testEvent } from './test-event.ts';
import { tick } from './tick.ts';

/** Every command that the operate function carries out, by its name. Both sides of an invocation import it. */
export const contract = {
  status,
  explain,
  events,
  prove,
  check,
  tick,
  'accept-total': acceptTotal,
  'credentials-stored': credentialsStored,
  pause,
  resume,
  'restart-baseline': restartBaseline,
  holds,
  release,
  discard,
  'test-event': testEvent,
  replay,
};

type Contract = typeof contract;
export type CommandName = keyof Contract;
export type CommandOf<Name extends CommandName> = z.output<Contract[Name]['command']>;
export type Command = CommandOf<CommandName>;
/** The input of any command: settings with a default can be left out. */
export type CommandInput = z.input<Contract[CommandName]['command']>;
export type ResultOf<Name extends CommandName> = z.output<Contract[Name]['result']>;

/** The contract, typed so that a command's name leads to the types of its own definition. */
export const definitions: {
  readonly [Name in CommandName]: Definition<
    z.ZodMiniType<CommandOf<Name>>,
    z.ZodMiniType<ResultOf<Name>>
  >;
} = contract;

export type CommandAnswer<Result = unknown> =
  | { readonly ok: true; readonly result: Result }
  | {
      readonly ok: false;
      readonly problem: Problem;
      /** The result up to the failure, if there is any. */
      readonly result?: Result;
    };

/** Whether a command can change anything. Then it is told by whom. */
export const canChange = (name: CommandName): boolean => 'by' in contract[name].command.shape;

/** Whether it changes anything, and is recorded: a proof or a replay may only look. */
export function isChanging<Name extends CommandName>(
  name: Name,
  command: CommandOf<Name>,
): boolean {
  return canChange(name) && (definitions[name].changes?.(command) ?? true);
}

/** The input is no command, or has settings that the command does not know. */
export class CommandInvalidError extends errorOf('command-invalid', 'ops') {
  readonly whatToDo =
    'Correct the command: docs/command-line.md#commands-inside-aws describes each.';

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
