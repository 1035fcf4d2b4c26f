import type { Command } from 'commander';
import type * as z from 'zod';
import type { ExitCode } from './exit-codes.ts';
import type { Session } from './session.ts';

/** How a command changes something. */
interface Changes {
  /** Names of the settings with which it changes something. Absent: it always does. */
  readonly with?: readonly string[];
  /** The change cannot be undone: somebody has been told, or never will be. */
  readonly isFinal?: boolean;
}

interface Description {
  /** Its name, without arguments: `explain`, `credentials set`. */
  readonly usage: string;
  /** One sentence. */
  readonly summary: string;
  /** IAM's actions and their resources that a caller needs beside those of every command. */
  readonly permissions?: string;
  /** Further sentences of the help. */
  readonly details?: string;
  /** Command lines without the program's name, each with its purpose. */
  readonly examples: readonly (readonly [args: string, what: string])[];
  /** Fields of the JSON that it reads from standard input where nobody can be asked. */
  readonly reads?: readonly {
    readonly name: string;
    readonly label: string;
    readonly isSecret?: boolean;
  }[];
  /** It runs until the user ends it. */
  readonly isEndless?: boolean;
  /** Absent: the command only reads. */
  readonly changes?: Changes;
  declare?(command: Command): void;
}

/** One command of ops. */
export interface OpsCommand extends Description {
  /** Its options and arguments, under the names that commander gives them. */
  readonly settings: z.ZodObject;
  run(session: Session, input: Readonly<Record<string, unknown>>): Promise<ExitCode>;
}

/** Gives `run` the types of the settings. */
export function opsCommand<Settings extends z.ZodObject>({
  settings,
  run,
  ...description
}: Description & {
  readonly settings: Settings;
  run(session: Session, settings: z.output<Settings>): Promise<ExitCode>;
}): OpsCommand {
  return {
    ...description,
    settings,
    run: (session, input) => run(session, settings.parse(input)),
  };
}
