import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Argument, Command, type Help, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { flag, setting, worded } from '../lambda/commands/words.ts';
import { commands } from './commands/index.ts';
import { completionScript, shells } from './completion.ts';
import { exitCodeMeanings } from './exit-codes.ts';
import { type Given, givenIn, longOf, readText } from './input.ts';
import type { OpsCommand } from './ops-command.ts';
import type { Streams } from './terminal.ts';

export const programName = 'certification-notifier';

const name = worded(z.string().optional(), { value: 'name' });

/** The settings of every command. */
export const everywhere = z.object({
  stack: setting(name, 'a deployment in AWS (env: NOTIFIER_STACK)'),
  local: flag('the instance that npm start runs on this machine'),
  integration: setting(name, 'which one, where the deployment watches several'),
  region: setting(name, 'AWS region (default: as AWS_REGION or the profile says)'),
  profile: setting(name, 'AWS profile (default: as AWS_PROFILE says)'),
  json: flag('print JSON, for machines'),
});

type Carry = (command: OpsCommand, parsed: Command) => Promise<void>;

/**
 * The program with all its commands.
 *
 * @param streams where help and version are written; absent: nowhere
 */
export function buildProgram(
  carry: Carry = async () => {},
  streams?: Pick<Streams, 'output' | 'errors'>,
): Command {
  const program = new Command(programName)
    .description('Shows the state of the notifier, and controls it: in AWS, or under npm start.')
    .version(version(), '--version', 'print the version')
    .configureHelp({ showGlobalOptions: true, helpWidth: 100 })
    .addHelpText('after', ({ command }) => `\nExit codes:\n${exitCodeTable(command.createHelp())}`)
    .allowExcessArguments(false)
    // Errors of commander are reported like all others, also as JSON.
    .configureOutput({
      outputError: () => {},
      writeOut: (text) => streams?.output.write(text),
      writeErr: (text) => streams?.errors.write(text),
    })
    .exitOverride();
  for (const given of givenIn(everywhere)) declare(program, given);
  for (const command of commands) addCommand(program, command, carry);
  addCompletion(program);
  return program;
}

function addCommand(program: Command, command: OpsCommand, carry: Carry): void {
  const [first = '', second] = command.usage.split(' ');
  const isNested = second !== undefined && /^\w/.test(second);
  const parent = isNested ? group(program, first, command) : program;
  const usage = isNested ? command.usage.slice(first.length + 1) : command.usage;
  const added = parent
    .command(usage)
    .summary(command.summary)
    .description([command.summary, command.details].filter(Boolean).join('\n\n'))
    .addHelpText('after', exampleText(command.examples))
    .allowExcessArguments(false)
    .action(() => carry(command, added));
  for (const given of givenIn(command.input)) declare(added, given);
}

/** Adds a setting as an option, or as an argument. */
function declare(command: Command, given: Given): void {
  const { name, words, isList } = given;
  const parse = (text: string, earlier: unknown) => {
    const read = readText(given, text, isList ? earlier : undefined);
    if (read === undefined) throw new InvalidArgumentError(`Allowed: ${words.allowed}.`);
    return read;
  };
  if (words.isArgument)
    command.addArgument(new Argument(`<${name}>`, words.describe).argParser(parse));
  else if (words.describe !== undefined) command.addOption(optionFor(command, given, parse));
  if (words.no !== undefined) command.option(`--no-${longOf(name)}`, words.no);
}

function optionFor(
  { options }: Command,
  { name, words, isRequired, isFlag, choices }: Given,
  parse: (text: string, earlier: unknown) => unknown,
): Option {
  const { describe, value = 'number', letter, excludes = [] } = words;
  const flags = `${letter ? `-${letter}, ` : ''}--${longOf(name)}`;
  const option = new Option(isFlag ? flags : `${flags} <${value}>`, describe)
    .makeOptionMandatory(isRequired)
    .conflicts(excludes === 'earlier' ? options.map((one) => one.attributeName()) : [...excludes]);
  // Only for the help and for completion: the parser takes lists of them, too.
  if (choices.length > 0) option.argChoices = [...choices];
  return isFlag ? option : option.argParser(parse);
}

/** Needs no deployment. */
function addCompletion(program: Command): void {
  const completion = program
    .command('completion')
    .summary('Prints a script that completes commands, options and their values in your shell.')
    .description(
      `Prints a script that completes commands, options and their values in your shell.\n\nIt completes the word ${programName}. Where npx runs it, make that a function of your shell:\n\n  ${programName}() { npx ${programName} "$@"; }`,
    )
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .addHelpText(
      'after',
      exampleText([
        ['completion bash >> ~/.bashrc', 'bash'],
        ['completion zsh >> ~/.zshrc', 'zsh'],
      ]),
    )
    .allowExcessArguments(false)
    .action(() => {
      const [shell] = z.tuple([z.enum(shells)]).parse(completion.processedArgs);
      program.configureOutput().writeOut?.(completionScript(shell, program));
    });
}

function exampleText(examples: OpsCommand['examples']): string {
  const told = examples.map(([args, what]) => `  # ${what}\n  ${programName} ${args}`);
  return `\n${told.length > 1 ? 'Examples' : 'Example'}:\n${told.join('\n')}`;
}

/** `credentials set` is a command of `credentials`, which has no other. */
function group(program: Command, name: string, { usage, summary }: OpsCommand): Command {
  return program.command(name).description(`${usage}: ${summary}`);
}

function exitCodeTable(help: Help): string {
  return exitCodeMeanings
    .map(([code, meaning]) => help.formatItem(String(code), 3, meaning, help))
    .join('\n');
}

/** The version of the package, on which the command line and the deployment have to agree. */
export function version(): string {
  const file = createRequire(import.meta.url).resolve('certification-notifier/package.json');
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8'))).version;
}
