import { hash } from 'node:crypto';

/** 64 bits. Two states with one digest have the same future. */
export function digest(text: string): bigint {
  return hash('sha1', text, 'buffer').readBigInt64LE();
}

/** Texts of objects that are replaced, and never changed. */
const texts = new WeakMap<object, string>();

/** Equal for equal values, in any order of maps and sets. */
export function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  if (Array.isArray(value)) return `[${value.map(textOf)}]`;
  if (value instanceof Map || value instanceof Set) return `{${[...value].map(textOf).toSorted()}}`;
  const text = texts.get(value) ?? textOfObject(value);
  texts.set(value, text);
  return text;
}

function textOfObject(value: object): string {
  if ('toJSON' in value) return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, field]) => `${name}:${textOf(field)}`)}}`;
}
