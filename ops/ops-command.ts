import * as z from 'zod';
import {
  type CommandName,
  canChange,
  contract,
  type ResultOf,
} from '../lambda/commands/contract.ts';
import { problemsOf } from '../lambda/english.ts';
import { UsageError } from './errors.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { givenIn, settingsFrom, settingsOf } from './input.ts';
import type { View } from './render/layout.ts';
import type { Session } from './session.ts';

interface Description {
  /** Further sentences of the help. */
  readonly details?: string;
  /** Command lines without the program's name, each with its purpose. */
  readonly examples: readonly (readonly [args: string, what: string])[];
  /** IAM's actions and their resources that a caller needs beside those of every command. */
  readonly permissions?: string;
  /** Fields of the JSON that it reads from standard input where nobody can be asked. */
  readonly reads?: readonly {
    readonly name: string;
    readonly label: string;
    readonly isSecret?: boolean;
  }[];
  /** It runs until the user ends it. */
  readonly isEndless?: boolean;
  /** Its change cannot be undone: somebody has been told, or never will be. */
  readonly isFinal?: boolean;
}

/** One command of ops. */
export interface OpsCommand extends Description {
  /** Its name, without arguments: `explain`, `credentials set`. */
  readonly usage: string;
  /** One sentence. */
  readonly summary: string;
  /** Its options and arguments, with their words. */
  readonly input: z.ZodObject;
  /** When it changes something: always, or with one of these settings. Absent: it only looks. */
  readonly changes?: 'always' | readonly string[];
  run(session: Session, input: Readonly<Record<string, unknown>>): Promise<ExitCode>;
}

/** Settings under the function's names. */
type Settings = Readonly<Record<string, unknown>>;

type Nothing = z.ZodObject<Record<never, never>>;

interface Definition<First extends z.ZodObject, Own extends z.ZodObject> extends Description {
  /** The command of the function that gives it its words and its settings. */
  readonly of?: CommandName;
  /** Absent: the function's name of it. */
  readonly usage?: string;
  readonly summary?: string;
  /** Further settings, behind those of the function in the help. */
  readonly own?: Own;
  /** Further settings before them. */
  readonly first?: First;
  run(
    session: Session,
    own: z.output<First> & z.output<Own>,
    settings: Settings,
  ): Promise<ExitCode>;
}

/** Defines a command: its options, forms, tools and pages follow. */
export function opsCommand<First extends z.ZodObject = Nothing, Own extends z.ZodObject = Nothing>(
  definition: Definition<First, Own>,
): OpsCommand {
  const { of, first, own, run, ...described }: Definition<z.ZodObject, z.ZodObject> = definition;
  const isContinued = own !== undefined && 'next' in own.shape;
  const ofFunction = of === undefined ? {} : settingsOf(of, isContinued);
  const input = z.object({ ...first?.shape, ...ofFunction, ...own?.shape });
  const changing = givenIn(input).flatMap(({ name, words }) => (words.changes ? [name] : []));
  const isChanging = of !== undefined && canChange(of);
  return {
    ...{ usage: of ?? '', summary: of ? contract[of].does : '', ...described, input },
    ...(isChanging && { changes: changing.length > 0 ? changing : 'always' }),
    run(session, given) {
      const { data: all, error } = input.safeParse(given);
      if (error)
        throw new UsageError(`${problemsOf(error).join('; ')}.`, 'Give settings as described.');
      const its = { ...first?.parse(all), ...own?.parse(all) };
      return run(session, its, of === undefined ? {} : settingsFrom(of, all));
    },
  };
}

/** Gives the command to the function once, and prints its answer. */
export const asked =
  <Name extends CommandName>(name: Name, lines: (view: View, result: ResultOf<Name>) => string[]) =>
  async (session: Session, _own: object, settings: Settings): Promise<ExitCode> => {
    const client = await session.operateClient();
    const by = canChange(name) ? { by: await session.by() } : {};
    const result = await session.ask(client, name, { ...settings, ...by });
    session.answer(result, (view) => lines(view, result));
    return exitCodes.fine;
  };
