import { resolve } from 'node:path';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import type * as z from 'zod';
import { NotifierError } from '../lambda/errors.ts';
import type { EnvironmentVariables, ProcessHost } from '../ops/host.ts';
import { withOutput } from '../ops/output.ts';
import { StartError } from './errors.ts';

/** A command line that writes to these streams. Help and mistakes are written, and then thrown as CommanderError. */
export function newCommandLine(
  name: string,
  { output, errors }: Pick<ProcessHost['streams'], 'output' | 'errors'>,
): Command {
  return new Command(name)
    .allowExcessArguments(false)
    .configureOutput({
      writeOut: (text) => output.write(text),
      writeErr: (text) => errors.write(text),
    })
    .exitOverride();
}

/**
 * Parses the path of a flag. npm runs scripts in the folder of the checkout, but a path is relative to the caller's
 * folder.
 */
export const filePath =
  ({ INIT_CWD: caller = '' }: EnvironmentVariables) =>
  (text: string) => {
    if (text.trim() !== '') return resolve(caller, text);
    throw new InvalidArgumentError('Allowed: the path of a file.');
  };

/** Parses the number of a flag. @param allowed the end of the sentence that refuses others */
export const number =
  (allowed: string, schema: z.ZodType<number, number>) =>
  (text: string): number => {
    const value = schema.safeParse(text.trim() === '' ? Number.NaN : Number(text));
    if (value.success) return value.data;
    throw new InvalidArgumentError(`Allowed: ${allowed}.`);
  };

type Host = Pick<ProcessHost, 'streams' | 'stopping'>;

/**
 * Runs a program of this folder to its end.
 *
 * @param failure the exit code for a bad flag, for a NotifierError and for output that cannot be written (a StartError)
 * @returns the exit code, once everything is written. Ctrl-C and a closed output are no failures
 */
export function runProgram(
  host: Host,
  program: () => Promise<number>,
  failure: (error: CommanderError | NotifierError) => number = () => 1,
): Promise<number> {
  const codeOf = (error: unknown): number => {
    // Commander has printed the help or the mistake already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : failure(error);
    if (error === host.stopping.signal.reason) return 0;
    if (!(error instanceof NotifierError)) throw error;
    tell(host, error);
    return failure(error);
  };
  return withOutput(
    host,
    async () => {
      try {
        return await program();
      } catch (error) {
        return codeOf(error);
      }
    },
    ({ cause }) => {
      const problem = `The output cannot be written (${Object(cause).code}).`;
      return codeOf(new StartError(problem, 'Make room for it, or send it elsewhere.'));
    },
  );
}

function tell({ streams }: Host, { message, whatToDo }: NotifierError): void {
  const separator = message.includes('\n') ? '\n' : ' ';
  streams.errors.write(`error: ${message}${separator}${whatToDo}\n`);
}
