import * as z from 'zod/mini';
import type { OpsLedger } from '../commands/ops-ledger.ts';
import { commandRecord } from '../decisions/command-record.ts';
import { ledgerKeys, ledgerTable } from '../names.ts';
import type { Waits } from '../ports/ledger.ts';
import { parseLife } from './certification-item.ts';
import { parse, schemaVersion } from './item.ts';
import { latest } from './latest.ts';
import { type Plain, part, type Table } from './table.ts';

const commandsKept = 100;

const recordItem = z.omit(commandRecord, { operation: true });

/** One attribute a command, so that one write adds the newest and another removes the oldest. */
const prefix = 'operation:';

/**
 * The requests of ops to one integration's ledger. The changing commands are one item.
 *
 *   pause, resume  condition: it is not so yet, or this very call made it so: if an answer is lost,
 *                  the SDK writes again, and finds its own write
 */
export function dynamoOpsLedger(table: Table, integration: string): OpsLedger {
  const commandsKey = ledgerKeys.commands(integration);
  const count = (waits: Waits) =>
    table.count(ledgerTable.undelivered, ledgerKeys.indexed(integration, waits));
  const setPaused = async (
    call: string,
    where: string,
    set: { paused: boolean; pause: unknown },
  ) => {
    const changed = await table.update(ledgerKeys.state(integration), {
      set: { ...set, steered_by: call },
      where: `attribute_exists(salt) AND (${where} OR steered_by = :call)`,
      values: { ':call': call, ':before': !set.paused },
    });
    return changed !== undefined;
  };
  return {
    pause(pause, call) {
      const noted = { ...pause, since: pause.since.epochMilliseconds };
      const running = 'attribute_not_exists(paused) OR paused = :before';
      return setPaused(call, running, { paused: true, pause: noted });
    },
    resume: (call) => setPaused(call, 'paused = :before', { paused: false, pause: undefined }),
    async waiting() {
      const all = [count('pending'), count('digest'), count('held'), count('undeliverable')];
      const [pending = 0, digest = 0, held = 0, undeliverable = 0] = await Promise.all(all);
      return { pending, digest, held, undeliverable };
    },
    async story(id) {
      const item = await table.get(ledgerKeys.certification(integration, id));
      return item && parseLife(item);
    },
    latest: (...asked) => latest(table, integration, 'newest-first', ...asked),
    latestSince: (...asked) => latest(table, integration, 'oldest-first', ...asked),
    async record({ operation, ...record }) {
      const set = { [prefix + operation]: record, schema: schemaVersion };
      const after = (await table.update(commandsKey, { set, returns: 'ALL_NEW' })) ?? {};
      const oldest = namesIn(after).slice(commandsKept);
      await table.update(commandsKey, {
        set: Object.fromEntries(oldest.map((name) => [name, undefined])),
      });
    },
    /** Notes nothing if the command is no longer recorded. */
    async conclude(operation, outcome) {
      const name = prefix + operation;
      const set = { [`${name}${part}outcome`]: outcome };
      await table.update(commandsKey, { set, exists: [name] });
    },
    async recorded() {
      const item = (await table.get(commandsKey)) ?? {};
      return namesIn(item).map((name) => ({
        operation: name.slice(prefix.length),
        ...parse(recordItem, item, item[name]),
      }));
    },
  };
}

/** Newest first. */
function namesIn(item: Plain): string[] {
  return Object.keys(item)
    .filter((name) => name.startsWith(prefix))
    .sort()
    .reverse();
}
