import { type Command, CommanderError } from 'commander';
import { UsageError } from './errors.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { fail } from './failing.ts';
import { type EnvironmentVariables, type HostInput, hostOf, type OpsHost } from './host.ts';
import type { OpsCommand } from './ops-command.ts';
import { withOutput } from './output.ts';
import { buildProgram, everywhere, programName } from './program.ts';
import { Session } from './session.ts';
import { Clients } from './target/access.ts';
import { Terminal } from './terminal.ts';

/**
 * Parses the command line, carries the command out, and prints its answer.
 *
 * @returns the exit code, once all output is written
 */
export async function run(argv: readonly string[], input: HostInput): Promise<ExitCode> {
  const host = hostOf(input);
  const terminal = new Terminal(host);
  return await withOutput(
    host,
    () => runCommand(argv, host, terminal),
    (lost) => fail(terminal, lost, false),
  );
}

async function runCommand(
  argv: readonly string[],
  host: OpsHost,
  terminal: Terminal,
): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.fine;
  const program = buildProgram(async (command, parsed) => {
    exitCode = await carryOut(command, parsed, host, terminal);
  }, host.streams);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    // Exit code 0: commander has printed the help or the version.
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.fine;
    const isMistake = error instanceof CommanderError;
    return fail(terminal, isMistake ? mistake(error, program) : error, asksForJson(argv));
  }
}

/** Works also for a command line that commander rejects. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json');
}

/** An error of commander as one of ours. */
function mistake({ code, message }: CommanderError, program: Command): UsageError {
  const names = namesIn(program);
  const whatToDo =
    names.length === 0
      ? `${programName} --help lists the commands, and --help behind a command its options.`
      : `${[programName, ...names].join(' ')} --help describes it.`;
  // Commander has printed the help instead of an error.
  if (code === 'commander.help') {
    const [help, ...asked] = program.args;
    return new UsageError(
      help === 'help' ? `Unknown command '${asked.join(' ')}'.` : 'No command was given.',
      whatToDo,
    );
  }
  // The value of an option that does not exist can be a secret.
  const said = message.replace(/'(--?[^=']+)=[\s\S]*'/, "'$1'");
  const [problem = '', ...hints] = said.replace(/^error: /, '').split('\n');
  return new UsageError([capitalised(problem).replace(/\.?$/, '.'), ...hints].join(' '), whatToDo);
}

/** The names of the command, as far as the program knows them. */
function namesIn({ args, commands }: Command): readonly string[] {
  const command = commands.find((one) => one.name() === args[0]);
  return command === undefined ? [] : [command.name(), ...namesIn(command)];
}

const capitalised = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

async function carryOut(
  command: OpsCommand,
  parsed: Command,
  host: OpsHost,
  terminal: Terminal,
): Promise<ExitCode> {
  const options = everywhere.parse(parsed.optsWithGlobals());
  const { stack = options.local ? undefined : stackOf(host.environment) } = options;
  using clients = new Clients();
  const session = new Session({ ...options, stack }, { host, terminal, clients });
  const named = parsed.registeredArguments.map((argument, index): [string, unknown] => [
    argument.name(),
    parsed.processedArgs[index],
  ]);
  try {
    host.stopping.signal.throwIfAborted();
    return await command.run(session, { ...parsed.opts(), ...Object.fromEntries(named) });
  } catch (thrown) {
    return fail(terminal, thrown, options.json);
  }
}

/** An explicit --local wins over the variable. An empty variable counts as absent, since CI sets it so. */
const stackOf = ({ NOTIFIER_STACK: name }: EnvironmentVariables) =>
  name === '' ? undefined : name;
