import { stripVTControlCharacters } from 'node:util';

/** Characters that move a cursor, forge a line or turn the direction of writing. */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/gu;

/** Makes a foreign text one line that has no effect on a terminal. */
export function harmless(text: string): string {
  return stripVTControlCharacters(text).replace(controls, ' ');
}

/**
 * Parses foreign JSON. Every text in it is made harmless on arrival, so that none can control the terminal.
 *
 * @returns `undefined` for invalid JSON
 */
export function harmlessJson(text: string): unknown {
  try {
    return JSON.parse(text, (_, value) => (typeof value === 'string' ? harmless(value) : value));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The parts that apply: a condition that is not met leaves `false` or nothing. */
export const given = <Part>(...parts: readonly (Part | false | undefined)[]): Part[] =>
  parts.filter((part): part is Part => part !== false && part !== undefined);

const numbers = new Intl.NumberFormat('en-US');

/** `12,004` */
export function amount(number: number): string {
  return numbers.format(number);
}

/** `1 event`, `12,004 events` */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${amount(number)} ${number === 1 ? noun : plural}`;
}

/** `3 created, 1 updated`, without zeros. @param none the text if all are zero */
export function counts(numbers: Readonly<Record<string, number>>, none = 'none'): string {
  const some = Object.entries(numbers).filter(([, number]) => number > 0);
  return some.map(([name, number]) => `${amount(number)} ${name}`).join(', ') || none;
}

/** Adds numbers by key; a key that only one side has counts as well. */
export function added<Counts extends Readonly<Record<string, number>>>(
  all: Counts | undefined,
  one: Counts,
): Counts {
  if (all === undefined) return one;
  const sums = Object.entries(one).map(([name, number]) => [name, number + (all[name] ?? 0)]);
  return { ...all, ...one, ...Object.fromEntries(sums) };
}

/** For the middle of a sentence. */
export const organizationNamed = (id: number | null): string =>
  id === null ? 'no organization' : `organization ${id}`;

/** For the middle of a sentence. The name of a record may be empty or absent. */
export const assessmentNamed = (name: string | null): string =>
  name || 'an assessment without a name';

/** As one argument of a shell. */
export function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** With a byte order mark, by which Excel knows UTF-8. */
export const marked = ([first = '', ...rest]: readonly string[]) => [`\uFEFF${first}`, ...rest];

/** JSON on one line. Escapes replace the characters that could control a terminal. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007F-\u009F\u2028\u2029\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
