import { Command } from 'commander';
import * as z from 'zod';
import type { OpsCommand } from '../ops-command.ts';
import type { ToolAnnotations } from './library.ts';

export interface Allowed {
  /** Whether there are tools, and arguments, that change something. */
  readonly changes: boolean;
  /** Whether a call may name the integration: not if the server is for one. */
  readonly integration: boolean;
}

/** A command as a tool for assistants. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly annotations: ToolAnnotations;
  readonly command: OpsCommand;
}

/**
 * Options without use for an assistant: the output for a terminal or a shell, waits of hours, and the note of the daily
 * self-check. `confirm` takes the place of `yes`.
 */
const leftOut: ReadonlySet<string> = new Set(['yes', 'csv', 'bom', 'exitCode', 'follow', 'note']);

const integration = z
  .string()
  .optional()
  .describe('which one, where the deployment watches several');
const confirm = z
  .boolean()
  .optional()
  .describe('true: carry it out. Only after somebody has seen the preview and agreed to it.');

const previewed = 'Without `confirm` it then answers with a preview and does nothing.';

/** A tool for each command that ends by itself and reads no secret. */
export function toolsOf(commands: readonly OpsCommand[], allowed: Allowed): readonly Tool[] {
  return commands.flatMap((command) => {
    const changing = changingOf(command);
    const isOffered = allowed.changes || changing !== 'always';
    return command.isEndless || command.reads || !isOffered ? [] : toolOf(command, allowed);
  });
}

/** The arguments with which a tool changes something, or `always`. */
function changingOf({ changes }: OpsCommand): readonly string[] | 'always' {
  if (changes === undefined) return [];
  return changes.with?.filter((option) => !leftOut.has(option)) ?? 'always';
}

function toolOf(command: OpsCommand, allowed: Allowed): Tool {
  const { usage, summary, details, changes } = command;
  const changing = changingOf(command);
  const isChanging = allowed.changes && changing.length > 0;
  const when =
    changing === 'always' ? '' : ` with ${changing.map((one) => `\`${one}\``).join(', ')}`;
  return {
    name: usage.replaceAll(' ', '-'),
    description: [
      summary,
      ...(details === undefined ? [] : [details]),
      ...(isChanging ? [`Changes something${when}. ${previewed}`] : []),
    ].join('\n\n'),
    input: z.strictObject({
      ...fieldsOf(command, allowed),
      ...(allowed.integration && { integration }),
      ...(isChanging && { confirm }),
    }),
    annotations: {
      readOnlyHint: !isChanging,
      destructiveHint: isChanging && changes?.isFinal === true,
      openWorldHint: false,
    },
    command,
  };
}

/** Options and arguments of the command, each with its text from the help. */
function fieldsOf(command: OpsCommand, { changes }: Allowed): Record<string, z.ZodType> {
  // Without changes, there is no reason to record.
  const kept = new Set(changes ? [] : ['reason', ...(command.changes?.with ?? [])]);
  const parsed = declared(command);
  const fields = Object.entries(command.settings.shape)
    .filter(([name]) => !leftOut.has(name) && !kept.has(name))
    .map(([name, schema]) => {
      const { description, isRequired } = helpOn(name, parsed);
      const type = name === 'next' ? next : withNumbers(schema);
      return [name, (isRequired ? type : z.optional(type)).describe(description)];
    });
  return Object.fromEntries(fields);
}

function helpOn(name: string, { options, registeredArguments }: Command) {
  const option = options.find((one) => one.attributeName() === name);
  if (option !== undefined) {
    const { description, negate, mandatory: isRequired } = option;
    return { description: negate ? `false: ${description}` : description, isRequired };
  }
  const argument = registeredArguments.find((one) => one.name() === name);
  return { description: argument?.description ?? '', isRequired: argument?.required ?? false };
}

/** Some assistants write every argument as text. */
function withNumbers(schema: z.ZodType): z.ZodType {
  const isTaken = (value: unknown) => schema.safeParse(value).success;
  return z.preprocess((value) => (isTaken(value) ? value : numbersIn(value)), schema);
}

function numbersIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(numbersIn);
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
}

/** Takes the place of the command's own schema, which is recursive: some assistants reject that. */
const next = z.looseObject({ command: z.string() });

/** The default values of its options. */
export const defaultsOf = (command: OpsCommand): Readonly<Record<string, unknown>> =>
  declared(command).opts();

function declared(command: OpsCommand): Command {
  const parsed = new Command();
  command.declare?.(parsed);
  return parsed;
}
