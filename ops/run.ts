import { type Command, CommanderError } from 'commander';
import * as z from 'zod';
import { InterruptedError, OutputLostError, UsageError } from './errors.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { fail } from './failing.ts';
import type { OpsCommand } from './ops-command.ts';
import { buildProgram, programName } from './program.ts';
import { Session } from './session.ts';
import { Terminal } from './terminal.ts';

const globalSettings = z.object({
  stack: z.string().optional(),
  local: z.boolean().default(false),
  integration: z.string().optional(),
  region: z.string().optional(),
  profile: z.string().optional(),
  json: z.boolean().default(false),
});

/**
 * Reads the command line, carries it out, and tells what came of it.
 *
 * @param stopping aborted when somebody wants it to end; it aborts this itself when nobody reads its output
 * @returns the exit code
 */
export async function run(argv: readonly string[], stopping: AbortController): Promise<ExitCode> {
  const { stdin: input, stdout: output, stderr: errors } = process;
  const terminal = new Terminal({ input, output, errors });
  listenToOutput(stopping, terminal);
  let exitCode: ExitCode = exitCodes.fine;
  const program = buildProgram(async (command, parsed) => {
    exitCode = await carryOut(command, parsed, terminal, stopping.signal);
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    // The help that was asked for has been printed by then.
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.fine;
    const isMistake = error instanceof CommanderError;
    return fail(terminal, isMistake ? mistake(error, program) : error, asksForJson(argv));
  }
}

/** Also where the rest is not understood. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json');
}

/** What commander has to say about a command line. */
function mistake({ code, message }: CommanderError, program: Command): UsageError {
  const names = namesIn(program);
  const whatToDo =
    names.length === 0
      ? `${programName} --help lists the commands, and --help behind a command its options.`
      : `${[programName, ...names].join(' ')} --help describes it.`;
  // It has printed the help instead.
  if (code === 'commander.help') {
    const [help, ...asked] = program.args;
    return new UsageError(
      help === 'help' ? `Unknown command '${asked.join(' ')}'.` : 'No command was given.',
      whatToDo,
    );
  }
  // What was given to an option that does not exist can be a secret.
  const said = message.replace(/'(--?[^=']+)=[\s\S]*'/, "'$1'");
  const [problem = '', ...hints] = said.replace(/^error: /, '').split('\n');
  return new UsageError([capitalised(problem).replace(/\.?$/, '.'), ...hints].join(' '), whatToDo);
}

/** Of the command that was understood, however little else was. */
function namesIn({ args, commands }: Command): readonly string[] {
  const command = commands.find((one) => one.name() === args[0]);
  return command === undefined ? [] : [command.name(), ...namesIn(command)];
}

const capitalised = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

async function carryOut(
  command: OpsCommand,
  parsed: Command,
  terminal: Terminal,
  stop: AbortSignal,
): Promise<ExitCode> {
  const options = globalSettings.parse(parsed.optsWithGlobals());
  const isFromEnvironment = parsed.getOptionValueSourceWithGlobals('stack') === 'env';
  const { stack, ...others } = options;
  // An explicit --local wins over the environment, and an empty name there is none: CI sets what it lacks so.
  const isMeant = !isFromEnvironment || (!options.local && stack !== '');
  const session = new Session(terminal, isMeant ? { ...others, stack } : others, stop);
  const named = parsed.registeredArguments.map((argument, index): [string, unknown] => [
    argument.name(),
    parsed.processedArgs[index],
  ]);
  try {
    stop.throwIfAborted();
    return await command.run(session, { ...parsed.opts(), ...Object.fromEntries(named) });
  } catch (thrown) {
    return fail(terminal, thrown, options.json);
  }
}

function listenToOutput(stopping: AbortController, terminal: Terminal): void {
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
    if (stopping.signal.aborted) return;
    // Whoever reads the output (`| head`) has seen enough.
    if (cause.code === 'EPIPE') return stopping.abort(new InterruptedError());
    const lost = new OutputLostError(cause.code ?? cause.name, { cause });
    stopping.abort(lost);
    // Whatever else has come of it, and maybe the program has come to its end already.
    process.once('exit', () => {
      process.exitCode = fail(terminal, lost, false);
    });
  });
  // There is no other place to tell it; the exit code does.
  process.stderr.on('error', () => {});
}
