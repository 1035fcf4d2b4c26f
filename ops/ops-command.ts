import type { Command } from 'commander';
import type * as z from 'zod';
import type { ExitCode } from './exit-codes.ts';
import type { Session } from './session.ts';

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
  /** Adds options and arguments. */
  declare?(command: Command): void;
}

/** One command of the operators. */
export interface OpsCommand extends Description {
  run(session: Session, input: Readonly<Record<string, unknown>>): Promise<ExitCode>;
}

/** A command, with the shape of its options and arguments. */
export function opsCommand<Settings extends z.ZodType>({
  settings,
  run,
  ...description
}: Description & {
  /** Options and arguments by their names, as commander has them. */
  readonly settings: Settings;
  run(session: Session, settings: z.output<Settings>): Promise<ExitCode>;
}): OpsCommand {
  return { ...description, run: (session, input) => run(session, settings.parse(input)) };
}
