import { Argument, Command, CommanderError, Option } from 'commander';
import * as z from 'zod';
import { NotifierError } from '../lambda/errors.ts';
import { commands } from './commands/index.ts';
import { completionScript, shells } from './completion.ts';
import { InterruptedError, OpsError, UnexpectedError } from './errors.ts';
import { type ExitCode, exitCodeMeanings, exitCodeOf, exitCodes } from './exit-codes.ts';
import type { OpsCommand } from './ops-command.ts';
import { Session } from './session.ts';
import { Terminal } from './terminal.ts';

const programName = 'certification-notifier';

const globalSettings = z.object({
  stack: z.string().optional(),
  local: z.boolean().default(false),
  integration: z.string().optional(),
  region: z.string().optional(),
  profile: z.string().optional(),
  json: z.boolean().default(false),
});

/** Carries out a command of the program. */
type Carry = (command: OpsCommand, parsed: Command) => Promise<void>;

/** The program with all its commands. */
export function buildProgram(carry: Carry): Command {
  const program = new Command(programName)
    .description('Tells how the notifier is doing, and steers it: in AWS, or under npm start.')
    .addOption(new Option('--stack <name>', 'the deployment in AWS').env('NOTIFIER_STACK'))
    .option('--local', 'the instance that npm start runs on this machine')
    .option('--integration <name>', 'where the deployment watches several')
    .option('--region <name>', 'AWS region (default: as AWS_REGION or the profile says)')
    .option('--profile <name>', 'AWS profile (default: as AWS_PROFILE says)')
    .option('--json', 'print JSON, for machines')
    .configureHelp({ showGlobalOptions: true, helpWidth: 100 })
    .addHelpText('after', `\nExit codes:\n${exitCodeTable()}`)
    .allowExcessArguments(false)
    .exitOverride();
  for (const command of commands) addCommand(program, command, carry);
  addCompletion(program);
  return program;
}

function addCommand(program: Command, command: OpsCommand, carry: Carry): void {
  const [first = '', second] = command.usage.split(' ');
  const isNested = second !== undefined && /^\w/.test(second);
  const parent = isNested ? group(program, first) : program;
  const usage = isNested ? command.usage.slice(first.length + 1) : command.usage;
  const added = parent
    .command(usage)
    .summary(command.summary)
    .description([command.summary, command.details].filter(Boolean).join('\n\n'))
    .addHelpText('after', exampleText(command.examples))
    .allowExcessArguments(false)
    .action(() => carry(command, added));
  command.declare?.(added);
}

/** Needs no deployment. */
function addCompletion(program: Command): void {
  const completion = program
    .command('completion')
    .summary('Prints a script that completes commands and options in your shell.')
    .description('Prints a script that completes commands and options in your shell.')
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .addHelpText(
      'after',
      exampleText([
        ['completion bash >> ~/.bashrc', 'bash'],
        ['completion zsh >> ~/.zshrc', 'zsh'],
        [`completion fish > ~/.config/fish/completions/${programName}.fish`, 'fish'],
      ]),
    )
    .allowExcessArguments(false)
    .action(() => {
      const [shell] = z.tuple([z.enum(shells)]).parse(completion.processedArgs);
      process.stdout.write(completionScript(shell, program));
    });
}

function exampleText(examples: OpsCommand['examples']): string {
  const told = examples.map(([args, what]) => `  # ${what}\n  ${programName} ${args}`);
  return `\n${told.length > 1 ? 'Examples' : 'Example'}:\n${told.join('\n')}`;
}

/** `credentials set` is a command of `credentials`. */
function group(program: Command, name: string): Command {
  const existing = program.commands.find((command) => command.name() === name);
  return existing ?? program.command(name).description(`Commands about the ${name}.`);
}

function exitCodeTable(): string {
  return exitCodeMeanings
    .map(([code, meaning]) => `  ${String(code).padEnd(5)}${meaning}`)
    .join('\n');
}

/** Reads the command line, carries it out, and tells what came of it. @returns the exit code */
export async function run(argv: readonly string[]): Promise<ExitCode> {
  const { stdin: input, stdout: output, stderr: errors } = process;
  const terminal = new Terminal({ input, output, errors });
  const stopping = new AbortController();
  listen(stopping);
  let exitCode: ExitCode = exitCodes.fine;
  const program = buildProgram(async (command, parsed) => {
    exitCode = await carryOut(command, parsed, terminal, stopping.signal);
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    // What is wrong, or the help that was asked for, has been printed by then.
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
  }
}

/** Where cleaning up fails as well, `await using` wraps what went wrong first. */
function firstFailure(thrown: unknown): unknown {
  return thrown instanceof SuppressedError ? firstFailure(thrown.suppressed) : thrown;
}

async function carryOut(
  command: OpsCommand,
  parsed: Command,
  terminal: Terminal,
  stop: AbortSignal,
): Promise<ExitCode> {
  const options = globalSettings.parse(parsed.optsWithGlobals());
  // An explicit --local wins over the environment.
  const isFromEnvironment = parsed.getOptionValueSourceWithGlobals('stack') === 'env';
  const { stack, ...others } = options;
  const session = new Session(
    terminal,
    options.local && isFromEnvironment ? others : { ...others, stack },
    stop,
  );
  const named = parsed.registeredArguments.map((argument, index): [string, unknown] => [
    argument.name(),
    parsed.processedArgs[index],
  ]);
  try {
    return await command.run(session, { ...parsed.opts(), ...Object.fromEntries(named) });
  } catch (thrown) {
    const first = firstFailure(thrown);
    const error = first instanceof NotifierError ? first : new UnexpectedError(first);
    session.failure(error);
    return error instanceof OpsError ? error.exitCode : exitCodeOf(error.code);
  }
}

function listen(stopping: AbortController): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      // Asked twice: whoever asks does not want to wait for a clean end.
      if (stopping.signal.aborted) process.exit(exitCodes.interrupted);
      stopping.abort(new InterruptedError());
    });
  // Whoever reads the output (`| head`) has seen enough.
  process.stdout.on('error', () => stopping.abort(new InterruptedError()));
}
