import type * as z from 'zod/mini';
import { ledgerTable } from '../names.ts';
import { LedgerCorruptError } from './errors.ts';

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

export function nameOf(item: unknown): string {
  return typeof item === 'object' && item !== null && ledgerTable.partitionKey in item
    ? String(item[ledgerTable.partitionKey])
    : 'without a key';
}
