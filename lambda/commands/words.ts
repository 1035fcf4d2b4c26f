import * as z from 'zod/mini';

/** How people give a setting: as an option of the command line, a field of a form, or an argument of a tool. */
export interface Words {
  /** Absent: only programs give the setting. */
  readonly describe?: string;
  /** Its name for people; absent: the setting's own. */
  readonly option?: string;
  /** The option takes no value, and stands for this one. */
  readonly means?: string;
  /** The word for its value in the help. */
  readonly value?: string;
  /** The allowed values; a text that is none of them is answered with this. */
  readonly allowed?: string;
  /** Reads a text; absent: as the shape tells. @throws UsageError, or returns a value that the shape rejects */
  readonly read?: (text: string) => unknown;
  /** Values of this list may have commas, so the option is repeated. */
  readonly isRepeated?: boolean;
  /** Given by its place, without its name. */
  readonly isArgument?: boolean;
  /** What the opposite does, which is an option of its own: `--no-…`. */
  readonly no?: string;
  /** A letter that stands for the option. */
  readonly letter?: string;
  /** Options that it cannot be given with; `earlier`: all that the help has before it. */
  readonly excludes?: 'earlier' | readonly string[];
  /** The command changes something only with it. */
  readonly changes?: boolean;
  /** Of no use for an assistant: it is about a terminal, a shell, or waits of hours. */
  readonly isForPeople?: boolean;
}

const registry = z.registry<Words>();

/** A setting that people give: what it does, and more words, beside those of its shape. */
export const setting = <Shape extends z.core.$ZodType>(
  shape: Shape,
  describe: string,
  words: Words = {},
): Shape => worded(shape, { describe, ...words });

/** A setting that is on or off; absent: off. */
export const flag = (describe: string, words: Words = {}) =>
  setting(z._default(z.boolean(), false), describe, words);

/** The shape with words, beside those that it has. */
export function worded<Shape extends z.core.$ZodType>(shape: Shape, words: Words): Shape {
  const told = z.core.util.clone(shape, undefined, { parent: true });
  registry.add(told, words);
  return told;
}

/** The words of a shape, and of those that it wraps. */
export function wordsOf(shape: z.core.$ZodType): Words {
  const inner = innerOf(shape);
  return { ...(inner && wordsOf(inner)), ...registry.get(shape) };
}

/** The shape itself, which may be left out or have a default. */
export function bareOf(shape: z.core.$ZodType): z.core.$ZodType {
  const inner = innerOf(shape);
  return inner === undefined ? shape : bareOf(inner);
}

const innerOf = (shape: z.core.$ZodType): z.core.$ZodType | undefined =>
  shape instanceof z.core.$ZodOptional || shape instanceof z.core.$ZodDefault
    ? shape._zod.def.innerType
    : undefined;
