import * as z from 'zod/mini';
import type { OpsLedger } from '../operations/ops-ledger.ts';
import { commandRecord } from '../ports/command-record.ts';
import { parse, schemaVersion } from './item.ts';
import { type Plain, path, type Table } from './table.ts';

const kept = 100;

const recordItem = z.omit(commandRecord, { operation: true });

/** One attribute a command, so that one write adds the newest and another removes the oldest. */
const prefix = 'operation:';

/** The changing commands of an integration: one item, the last hundred. */
export function commandLog(table: Table, integration: string) {
  const key = `COMMANDS#${integration}`;
  return {
    async record({ operation, ...record }) {
      const set = { [prefix + operation]: record, schema: schemaVersion };
      const after = (await table.update(key, { set, returns: 'ALL_NEW' })) ?? {};
      const oldest = namesIn(after).slice(kept);
      await table.update(key, { set: Object.fromEntries(oldest.map((name) => [name, undefined])) });
    },
    /** Of one that is no longer kept, nothing is noted. */
    async conclude(operation, outcome) {
      const name = prefix + operation;
      await table.update(key, { set: { [path(name, 'outcome')]: outcome }, exists: [name] });
    },
    async recorded() {
      const item = (await table.get(key)) ?? {};
      return namesIn(item).map((name) => ({
        operation: name.slice(prefix.length),
        ...parse(recordItem, item, item[name]),
      }));
    },
  } satisfies Partial<OpsLedger>;
}

/** Newest first. */
function namesIn(item: Plain): string[] {
  return Object.keys(item)
    .filter((name) => name.startsWith(prefix))
    .sort()
    .reverse();
}
