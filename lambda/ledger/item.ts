import type * as z from 'zod/mini';
import { ledgerTable } from '../names.ts';
import { LedgerCorruptError } from './errors.ts';
import type { Plain } from './table.ts';

/** Written into every item, so that a later version can tell what it reads. */
export const schemaVersion = 1;

/**
 * What an item, or a part of it, holds.
 * @throws LedgerCorruptError naming the item and what is wrong with it, and no value
 */
export function parse<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  name = nameOf(value),
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  // Paths and codes only: a message could quote a value.
  throw new LedgerCorruptError(
    name,
    parsed.error.issues.map(({ path, code }) => `${path.join('.') || 'item'} (${code})`),
  );
}

/** Attributes are named as the fields, in snake case. `null`, as earlier versions wrote it, is absent. */
export const fieldsOf = (item: Plain): Plain =>
  renamed(item, (name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));

export const attributesOf = (fields: Plain): Plain =>
  renamed(fields, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

function renamed(parts: Plain, rename: (name: string) => string): Plain {
  const named = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(named);
    return isPlain(part) ? renamed(part, rename) : part;
  };
  const there = Object.entries(parts).filter(([, part]) => part !== null);
  return Object.fromEntries(there.map(([name, part]) => [rename(name), named(part)]));
}

function isPlain(part: unknown): part is Plain {
  return (
    typeof part === 'object' && part !== null && Object.getPrototypeOf(part) === Object.prototype
  );
}

export function nameOf(item: unknown): string {
  return typeof item === 'object' && item !== null && ledgerTable.partitionKey in item
    ? String(item[ledgerTable.partitionKey])
    : 'without a key';
}
