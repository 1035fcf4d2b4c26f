import { stripVTControlCharacters } from 'node:util';

/** What moves a cursor, forges a line or turns the direction of writing. */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/gu;

/** Text of others as one line that does nothing to a terminal. */
export function harmless(text: string): string {
  return stripVTControlCharacters(text).replace(controls, ' ');
}

/**
 * What others send as JSON: nothing of it may steer the terminal, so every text in it is made harmless
 * where it arrives.
 *
 * @returns `undefined` where it is no JSON
 */
export function harmlessJson(text: string): unknown {
  try {
    return JSON.parse(text, (_, value) => (typeof value === 'string' ? harmless(value) : value));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const numbers = new Intl.NumberFormat('en-US');

/** `12,004` */
export function amount(number: number): string {
  return numbers.format(number);
}

/** `1 event`, `12,004 events` */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${amount(number)} ${number === 1 ? noun : plural}`;
}

/** `3 created, 1 updated`: what there is none of is left out. @param none what to say of nothing */
export function counts(numbers: Readonly<Record<string, number>>, none = 'none'): string {
  const some = Object.entries(numbers).filter(([, number]) => number > 0);
  return some.map(([name, number]) => `${amount(number)} ${name}`).join(', ') || none;
}

/** In the middle of a sentence. */
export const organizationNamed = (id: number | null): string =>
  id === null ? 'no organization' : `organization ${id}`;

/** In the middle of a sentence; a record may have a name that is empty, or none. */
export const assessmentNamed = (name: string | null): string =>
  name || 'an assessment without a name';

/** As one argument of a shell. */
export function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** JSON on one line, in which nothing steers a terminal: the escapes say the same. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007F-\u009F\u2028\u2029\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
