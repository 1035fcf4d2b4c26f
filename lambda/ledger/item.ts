import type * as z from 'zod/mini';
import { ledgerTable } from '../names.ts';
import { LedgerCorruptError } from './errors.ts';
import type { Plain } from './table.ts';

/** Written into every item, so that a later version knows the format. */
export const schemaVersion = 1;

/**
 * Parses an item, or a part of it.
 *
 * @throws LedgerCorruptError naming the item and its problems, without a value
 */
export function parse<Schema extends z.ZodMiniType>(
  schema: Schema,
  item: Plain,
  part: unknown = item,
): z.output<Schema> {
  const parsed = schema.safeParse(part);
  if (parsed.success) return parsed.data;
  // Paths and codes only: zod's texts could quote a value.
  throw new LedgerCorruptError(
    String(item[ledgerTable.partitionKey] ?? 'without a key'),
    parsed.error.issues.map(({ path, code }) => `${path.join('.') || 'item'} (${code})`),
  );
}

/** An item that cannot be read does not hide the others. */
export function readAll<Parsed>(
  items: readonly Plain[],
  parse: (item: Plain) => Parsed,
  onUnreadable?: (error: LedgerCorruptError, item: Plain) => void,
): Parsed[] {
  return items.flatMap((item) => {
    try {
      return [parse(item)];
    } catch (error) {
      if (!(error instanceof LedgerCorruptError)) throw error;
      onUnreadable?.(error, item);
      return [];
    }
  });
}

/**
 * Turns names of fields (camel case) into names of attributes (snake case) and back, within parts,
 * too. `null`, which earlier versions wrote, becomes absent.
 */
export function renamed(part: Plain): Plain;
export function renamed(part: unknown): unknown;
export function renamed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map((one) => renamed(one));
  if (typeof part !== 'object' || part === null || part instanceof Set) return part;
  return Object.fromEntries(
    Object.entries(part)
      .filter(([, inner]) => inner !== null)
      .map(([name, inner]) => [
        name.replace(/_[a-z]|[A-Z]/g, (letters) =>
          letters.startsWith('_') ? letters.slice(1).toUpperCase() : `_${letters.toLowerCase()}`,
        ),
        renamed(inner),
      ]),
  );
}
