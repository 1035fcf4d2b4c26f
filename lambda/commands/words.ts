import * as z from 'zod/mini';

/** How people give a setting: as an option of the command line, a field of a form, or an argument of a tool. */
export interface Words {
  /** Its effect. Absent, and `no` too: only programs give the setting. */
  readonly describe?: string;
  /** Its name for people; absent: the setting's own. */
  readonly option?: string;
  /** The option takes no value, and stands for this one; people give no other. */
  readonly means?: string | true;
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
  /** The effect of the opposite, an option of its own: `--no-…`. */
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

/** The words of shapes. */
export const words = z.registry<Words>();

/** A setting that people give: its effect in words, and further words beside those of its shape. */
export const setting = <Shape extends z.core.$ZodType>(
  shape: Shape,
  describe: string,
  more: Words = {},
): Shape => worded(shape, { describe, ...more });

/** A setting that is on or off; absent: off. */
export const flag = (describe: string, more: Words = {}) =>
  setting(z._default(z.boolean(), false), describe, more);

/** The shape with words, beside those that it has. */
export function worded<Shape extends z.core.$ZodType>(shape: Shape, more: Words): Shape {
  const told = z.clone(shape, undefined, { parent: true });
  words.add(told, more);
  return told;
}
