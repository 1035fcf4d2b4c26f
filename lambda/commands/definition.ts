import type * as z from 'zod/mini';
import type { Call, OperationParts } from './parts.ts';

/** A command's definition, for the function, the command line, the console and the docs. */
export interface Definition<Command extends z.ZodMiniType, Result extends z.ZodMiniType> {
  /** A sentence. */
  readonly does: string;
  /** The shape of its input: `command` is its name. */
  readonly command: Command;
  readonly result: Result;
  /**
   * Whether this command changes anything, and is recorded with `by` whom. Absent: if it can be told
   * by whom.
   */
  changes?(command: z.output<Command>): boolean;
  /** Whether this answer says that something was changed. Absent: unless its `changed` is `false`. */
  hasChanged?(result: z.output<Result>): boolean;
  /**
   * Where to see the outcome of a call whose answer was lost. Absent: in the history of commands.
   */
  readonly seenIn?: string;
  /**
   * Carries it out. An error that it throws has ended it before anything was done; `failure` has
   * ended it early.
   */
  carry(
    parts: OperationParts,
    command: z.output<Command>,
    call: Call,
  ): Promise<{ readonly result: z.output<Result>; readonly failure?: unknown }>;
}

/** Lets the compiler infer types from the shapes. */
export function define<Command extends z.ZodMiniType, Result extends z.ZodMiniType>(
  definition: Definition<Command, Result>,
): Definition<Command, Result> {
  return definition;
}
