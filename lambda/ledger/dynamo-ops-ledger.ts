import * as z from 'zod/mini';
import { ledgerKeys, ledgerTable } from '../names.ts';
import type { OpsLedger } from '../operations/ops-ledger.ts';
import { commandRecord } from '../ports/command-record.ts';
import {
  type Decision,
  type Kept,
  type KeptEvent,
  revisionNoted,
  type Waits,
} from '../ports/ledger.ts';
import type { Pause } from '../ports/state.ts';
import { type Entry, eventsOf, outboxOf, parseLife } from './certification-item.ts';
import { rewrite } from './certifications.ts';
import { LedgerUnavailableError } from './errors.ts';
import { parse, schemaVersion } from './item.ts';
import { type Plain, part, type Table } from './table.ts';

/** Only a writer without the lease comes in between. */
const attempts = 5;

const commandsKept = 100;

const recordItem = z.omit(commandRecord, { operation: true });

/** By themselves: nothing else of the history is to be in the way of a decision. */
const decisionsNoted = z.pick(revisionNoted, { decisions: true });

/** One attribute a command, so that one write adds the newest and another removes the oldest. */
const prefix = 'operation:';

/**
 * What the people on duty ask of one integration's ledger. The commands that change something are one item.
 *
 *   decide         condition: the outbox is as it was read
 *   pause, resume  condition: it is not so yet. Under the name of the call: when an answer is lost, the SDK writes
 *                  again, and what it then finds is its own
 */
export function dynamoOpsLedger(table: Table, integration: string): OpsLedger {
  const commandsKey = ledgerKeys.commands(integration);
  const count = (waits: Waits) =>
    table.count(ledgerTable.undelivered, ledgerKeys.indexed(integration, waits));
  const steer = async (paused: boolean, pause: Pause | undefined, call: string, isSo: string) => {
    const noted = pause && { ...pause, since: pause.since.epochMilliseconds };
    const changed = await table.update(ledgerKeys.state(integration), {
      set: { paused, pause: noted, steered_by: call },
      where: `attribute_exists(salt) AND (${isSo} OR steered_by = :call)`,
      values: { ':call': call, ':before': !paused },
    });
    return changed !== undefined;
  };
  const isRunning = 'attribute_not_exists(paused) OR paused = :before';
  return {
    pause: (pause, call) => steer(true, pause, call, isRunning),
    resume: (call) => steer(false, undefined, call, 'paused = :before'),
    async waiting() {
      const all = [count('pending'), count('digest'), count('held'), count('undeliverable')];
      const [pending = 0, digest = 0, held = 0, undeliverable = 0] = await Promise.all(all);
      return { pending, digest, held, undeliverable };
    },
    async story(id) {
      const item = await table.get(ledgerKeys.certification(integration, id));
      return item && parseLife(item);
    },
    async decide(certificationId, waits, decision, choose, now) {
      const key = ledgerKeys.certification(integration, certificationId);
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const item = await table.get(key);
        if (item === undefined) return { done: [], behind: 0, freed: 0 };
        const { done, behind } = chosen(item, waits, decision, choose);
        if (done.length === 0) return { done, behind, freed: 0 };
        const decided = new Set(done.map(({ revision }) => revision));
        const before = outboxOf(item);
        const outbox = Object.fromEntries(
          before.flatMap((entry) => entryAfter(entry, decided, decision)),
        );
        const note = { decision, at: now.toString() };
        const noted = [...decided]
          .map((one) => `revision:${one}`)
          .filter((name) => item[name] !== undefined)
          .map((name) => {
            const { decisions } = parse(decisionsNoted, item, item[name]);
            return [`${name}${part}decisions`, [...decisions, note]];
          });
        if (!(await rewrite(table, integration, item, outbox, Object.fromEntries(noted)))) continue;
        // Held only because one before them was: nobody has decided about them, and they go out.
        const behindHeld = before
          .filter(({ revision, waits }) => waits === 'held' && !decided.has(revision))
          .map(({ revision }) => revision);
        const freed = outboxOf({ ...item, outbox }).filter(
          ({ revision, waits }) => waits === 'pending' && behindHeld.includes(revision),
        );
        return { done, behind, freed: freed.length };
      }
      throw new LedgerUnavailableError('UpdateItem', { cause: new Error('others write, too') });
    },
    async record({ operation, ...record }) {
      const set = { [prefix + operation]: record, schema: schemaVersion };
      const after = (await table.update(commandsKey, { set, returns: 'ALL_NEW' })) ?? {};
      const oldest = namesIn(after).slice(commandsKept);
      await table.update(commandsKey, {
        set: Object.fromEntries(oldest.map((name) => [name, undefined])),
      });
    },
    /** Of one that is no longer kept, nothing is noted. */
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

/** To be released, an event must have none before it that goes on to be held. */
function chosen(
  item: Plain,
  waits: Kept,
  decision: Decision,
  choose: (event: KeptEvent) => boolean,
): { done: KeptEvent[]; behind: number } {
  const isHeld = new Map(outboxOf(item).map(({ revision, raw }) => [revision, raw.held]));
  const isOrdered = waits === 'held' && decision !== 'discarded';
  const done: KeptEvent[] = [];
  let behind = 0;
  let isBlocked = false;
  for (const event of eventsOf(item, [waits])) {
    if (!choose(event)) isBlocked ||= isHeld.get(event.revision) === true;
    else if (isOrdered && isBlocked) behind += 1;
    else done.push(event);
  }
  return { done, behind };
}

function entryAfter(
  { revision, raw }: Entry,
  decided: ReadonlySet<number>,
  decision: Decision,
): [revision: number, raw: Plain][] {
  if (!decided.has(revision)) return [[revision, raw]];
  const { held: _, undeliverable: __, ...rest } = raw;
  if (decision === 'discarded') return [];
  return [[revision, decision === 'released-to-people' ? { ...rest, owes: 'digest' } : rest]];
}
