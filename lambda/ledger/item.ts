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
  item: Plain,
  part: unknown = item,
): z.output<Schema> {
  const parsed = schema.safeParse(part);
  if (parsed.success) return parsed.data;
  // Paths and codes only: a message could quote a value.
  throw new LedgerCorruptError(
    String(item[ledgerTable.partitionKey] ?? 'without a key'),
    parsed.error.issues.map(({ path, code }) => `${path.join('.') || 'item'} (${code})`),
  );
}

/** An item that cannot be read does not hide the others. */
export function readAll<Parsed>(items: readonly Plain[], parse: (item: Plain) => Parsed) {
  const read: Parsed[] = [];
  const unreadable: LedgerCorruptError[] = [];
  for (const item of items)
    try {
      read.push(parse(item));
    } catch (error) {
      if (!(error instanceof LedgerCorruptError)) throw error;
      unreadable.push(error);
    }
  return { read, unreadable };
}

type Spelling = readonly [letters: RegExp, spelled: (letters: string) => string];

/** Attributes are named as the fields, in snake case. */
export const asFields: Spelling = [/_[a-z]/g, (letters) => letters.slice(1).toUpperCase()];
export const asAttributes: Spelling = [/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`];

/** Names are spelled otherwise, those within parts, too. `null`, as earlier versions wrote it, is absent. */
export function renamed(part: Plain, spelling: Spelling): Plain;
export function renamed(part: unknown, spelling: Spelling): unknown;
export function renamed(part: unknown, spelling: Spelling): unknown {
  if (Array.isArray(part)) return part.map((one) => renamed(one, spelling));
  if (typeof part !== 'object' || part === null || part instanceof Set) return part;
  const there = Object.entries(part).filter(([, inner]) => inner !== null);
  return Object.fromEntries(
    there.map(([name, inner]) => [name.replace(...spelling), renamed(inner, spelling)]),
  );
}
