import type { Command } from 'commander';
import type * as z from 'zod';
import type { ExitCode } from './exit-codes.ts';
import type { Session } from './session.ts';

/** That a command changes something. */
interface Changes {
  /** By the names of its settings: only with one of these. Absent: always. */
  readonly with?: readonly string[];
  /** It cannot be taken back: somebody was told something, or never will be. */
  readonly isFinal?: boolean;
}

interface Description {
  /** Its name, without arguments: `explain`, `credentials set`. */
  readonly usage: string;
  /** One sentence. */
  readonly summary: string;
  /** What a caller has to be allowed beside what every command takes: IAM's actions, and on what. */
  readonly permissions?: string;
  /** What else there is to know. */
  readonly details?: string;
  /** Arguments of the program, and what they are good for. */
  readonly examples: readonly (readonly [args: string, what: string])[];
  /** Fields of the JSON that it reads from standard input where nobody can be asked. */
  readonly reads?: readonly {
    readonly name: string;
    readonly label: string;
    readonly isSecret?: boolean;
  }[];
  /** It goes on until somebody ends it. */
  readonly isEndless?: boolean;
  /** Absent: it only looks. */
  readonly changes?: Changes;
  /** Adds options and arguments. */
  declare?(command: Command): void;
}

/** One command of the operators. */
export interface OpsCommand extends Description {
  /** The shape of its options and arguments, by their names, as commander has them. */
  readonly settings: z.ZodObject;
  run(session: Session, input: Readonly<Record<string, unknown>>): Promise<ExitCode>;
}

/** A command, with the shape of its options and arguments. */
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
