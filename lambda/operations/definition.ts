import type * as z from 'zod/mini';
import type { Call, OperationParts } from './parts.ts';

/** A command: the function, the command line, the console and the docs take theirs from it. */
export interface Definition<Command extends z.ZodMiniType, Result extends z.ZodMiniType> {
  /** A sentence. */
  readonly does: string;
  /** The shape of its input: `command` is its name. */
  readonly command: Command;
  readonly result: Result;
  /** Whether it changes anything, and is recorded with `by` whom. Absent: it only looks. */
  changes?(command: z.output<Command>): boolean;
  /** Whether this answer says that something was changed. Absent: any answer does. */
  hasChanged?(result: z.output<Result>): boolean;
  /** Where to see what came of a call whose answer was lost. Absent: in the history of commands. */
  readonly seenIn?: string;
  /** Carries it out. What it throws has ended it before anything was done; `failure`, before its time. */
  carry(
    parts: OperationParts,
    command: z.output<Command>,
    call: Call,
  ): Promise<{ readonly result: z.output<Result>; readonly failure?: unknown }>;
}

/** For what the compiler infers from the shapes. */
export function define<Command extends z.ZodMiniType, Result extends z.ZodMiniType>(
  definition: Definition<Command, Result>,
): Definition<Command, Result> {
  return definition;
}
