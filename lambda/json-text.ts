import * as z from 'zod/mini';
import { inEnglish } from './english.ts';

declare global {
  interface JSON {
    /** An object that `JSON.stringify` writes as this text. */
    rawJSON(text: string): unknown;
  }
}

/**
 * A number of JSON that a JavaScript number would write in other digits. `JSON.stringify` writes it as it was read. No
 * `rawJSON` object by itself: validation and equality see nothing in one.
 */
export class WrittenNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }

  toJSON(): unknown {
    return JSON.rawJSON(this.digits);
  }
}

/**
 * The start of a number that may be one: of sixteen digits, with an exponent, a fraction that ends in 0 or begins with
 * six of them, or a negative zero. Texts that look alike only cost time: to see the sources of numbers takes eight times
 * as long.
 */
const mayBeAltered =
  /(?:"\s*:|[[,])\s*(?:-?(?:[\d.]{16}|[\d.]+[eE]|\d+\.(?:0{6}|\d*0(?![\d.])))|-0)/;

/** `JSON.parse` with sources runs out of stack in some thousand levels. */
const mostLevels = 256;

/**
 * Parses JSON without altering a number: one that JavaScript would write in other digits is a
 * {@link WrittenNumber}. Only where there is one, null takes the place of values below 256 levels.
 *
 * @throws SyntaxError which quotes the text
 */
export function parseExactly(text: string): unknown {
  if (!mayBeAltered.test(text)) return JSON.parse(text);
  return Reflect.apply(JSON.parse, JSON, [shallow(text), asWritten]);
}

/** The types of JavaScript do not know yet that a reviver gets the source of a number. */
function asWritten(_: string, value: unknown, { source }: { readonly source?: string }): unknown {
  const isAltered = typeof value === 'number' && source !== undefined && String(value) !== source;
  return isAltered ? new WrittenNumber(source) : value;
}

const levels: ReadonlyMap<string, number> = new Map([
  ['[', 1],
  ['{', 1],
  [']', -1],
  ['}', -1],
]);

function shallow(text: string): string {
  let kept = '';
  let [from, level] = [0, 0];
  for (const { 0: sign, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/gs)) {
    const before = level;
    level += levels.get(sign) ?? 0;
    if (level === mostLevels && before < level) kept += `${text.slice(from, index)}null`;
    if (before === mostLevels && level < before) from = index + 1;
  }
  return from === 0 ? text : kept + text.slice(from);
}

/** A number as a JavaScript number, which may have other digits. Other values stay. */
export const asNumber = (value: unknown): unknown =>
  value instanceof WrittenNumber ? Number(value.digits) : value;

/**
 * The value itself, if it is as the schema says. The copy that zod makes has its fields in another order, and none
 * named `__proto__`.
 */
export function itself<Output>(schema: z.ZodMiniType<Output>) {
  return z.transform((value: unknown, context): Output => {
    const parsed = schema.safeParse(value, inEnglish);
    if (isAs(value, parsed)) return value;
    for (const issue of parsed.error?.issues ?? [])
      context.issues.push({ ...issue, input: undefined });
    return z.NEVER;
  });
}

const isAs = <Output>(
  _: unknown,
  { success }: { readonly success: boolean; readonly data?: Output | undefined },
): _ is Output => success;

/**
 * Text that holds JSON, also behind a byte order mark or within blanks. The issue of unreadable text
 * has no quotation, unlike a SyntaxError.
 */
export const jsonText = z.pipe(
  z.string(),
  z.transform((text, context): unknown => {
    try {
      return parseExactly(text.trim());
    } catch {
      context.issues.push({ code: 'custom', message: 'not JSON', input: undefined });
      return z.NEVER;
    }
  }),
);
