import * as z from 'zod';
import type { Words } from '../../lambda/commands/words.ts';
import { type Given, givenIn } from '../input.ts';
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
  return commands
    .filter(({ isEndless, reads }) => !isEndless && !reads)
    .filter(({ changes }) => allowed.changes || changes !== 'always')
    .map((command) => toolOf(command, allowed));
}

function toolOf(command: OpsCommand, allowed: Allowed): Tool {
  const { usage, summary, details, changes, isFinal = false, input } = command;
  const given = givenIn(input).filter(({ words }) => !words.isForPeople);
  const changing = given.filter(({ words }) => words.changes);
  const isChanging = allowed.changes && (changes === 'always' || changing.length > 0);
  // Without changes, there is no reason to record.
  const offered = given.filter(
    (one) => allowed.changes || !(changing.includes(one) || one.name === 'reason'),
  );
  const when =
    changes === 'always' ? '' : ` with ${changing.map(({ name }) => `\`${name}\``).join(', ')}`;
  return {
    name: usage.replaceAll(' ', '-'),
    description: [
      summary,
      ...(details === undefined ? [] : [details]),
      ...(isChanging ? [`Changes something${when}. ${previewed}`] : []),
    ].join('\n\n'),
    input: z.strictObject({
      ...Object.fromEntries(offered.map((one) => [one.name, fieldOf(one)])),
      ...(allowed.integration && { integration }),
      ...(isChanging && { confirm }),
    }),
    annotations: {
      readOnlyHint: !isChanging,
      destructiveHint: isChanging && isFinal,
      openWorldHint: false,
    },
    command,
  };
}

function fieldOf({ name, shape, words, isRequired }: Given): z.ZodType {
  const { describe = `false: ${words.no}`, read, value = 'number' } = words;
  if (name === 'next') return z.optional(next).describe(describe);
  const type = withTexts(shape, read);
  // The words are about the text; the schema is about the value that is read from it.
  const told = read === undefined ? describe : `${describe} (or the number of ${value})`;
  return (isRequired ? type : z.optional(type)).describe(told);
}

/** Some assistants write every argument as text, and the command line's texts are in the descriptions. */
function withTexts(schema: z.core.$ZodType, read: Words['read']): z.ZodType {
  const isTaken = (value: unknown) => z.safeParse(schema, value).success;
  return z.preprocess((value) => {
    if (isTaken(value)) return value;
    const text = typeof value === 'string' ? read?.(value.trim()) : undefined;
    return text !== undefined && isTaken(text) ? text : numbersIn(value);
  }, schema);
}

function numbersIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(numbersIn);
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
}

/** Takes the place of the command's own schema, which is recursive: some assistants reject that. */
const next = z.looseObject({ command: z.string() });
