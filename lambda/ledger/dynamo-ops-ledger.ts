import * as z from 'zod/mini';
import { detours, toldOf } from '../detection/compare.ts';
import { ledgerKeys, ledgerTable } from '../names.ts';
import type { OpsLedger } from '../operations/ops-ledger.ts';
import { commandRecord } from '../ports/command-record.ts';
import {
  type Decision,
  revisionNoted,
  type WaitingEvent,
  type Waits,
  type WaitsForOps,
} from '../ports/ledger.ts';
import type { Pause } from '../ports/state.ts';
import {
  type Entry,
  eventsOf,
  outboxOf,
  parseCertification,
  parseLife,
} from './certification-item.ts';
import { rewrite } from './certifications.ts';
import { LedgerUnavailableError } from './errors.ts';
import { parse, schemaVersion } from './item.ts';
import { latest, latestSince } from './latest.ts';
import { type Plain, part, type Table } from './table.ts';

/** Only a writer without the lease can come in between. */
const attempts = 5;

const commandsKept = 100;

const recordItem = z.omit(commandRecord, { operation: true });

/** Parsed by themselves: nothing else in the history may block a decision. */
const decisionsNoted = z.pick(revisionNoted, { decisions: true });

/** One attribute a command, so that one write adds the newest and another removes the oldest. */
const prefix = 'operation:';

/**
 * The requests of ops to one integration's ledger. The changing commands are one item.
 *
 *   decide         condition: the outbox is as it was read
 *   pause, resume  condition: it is not so yet, or this very call made it so: if an answer is lost,
 *                  the SDK writes again, and finds its own write
 */
export function dynamoOpsLedger(table: Table, integration: string): OpsLedger {
  const commandsKey = ledgerKeys.commands(integration);
  const count = (waits: Waits) =>
    table.count(ledgerTable.undelivered, ledgerKeys.indexed(integration, waits));
  const setPaused = async (
    paused: boolean,
    pause: Pause | undefined,
    call: string,
    isSo: string,
  ) => {
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
    pause: (pause, call) => setPaused(true, pause, call, isRunning),
    resume: (call) => setPaused(false, undefined, call, 'paused = :before'),
    async waiting() {
      const all = [count('pending'), count('digest'), count('held'), count('undeliverable')];
      const [pending = 0, digest = 0, held = 0, undeliverable = 0] = await Promise.all(all);
      return { pending, digest, held, undeliverable };
    },
    async story(id) {
      const item = await table.get(ledgerKeys.certification(integration, id));
      return item && parseLife(item);
    },
    latest: (...asked) => latest(table, integration, ...asked),
    latestSince: (...asked) => latestSince(table, integration, ...asked),
    async decide(certificationId, waits, decision, choose, now) {
      const key = ledgerKeys.certification(integration, certificationId);
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const item = await table.get(key);
        if (item === undefined) return { done: [], behind: 0, freed: 0, undone: 0 };
        const { done: all, behind } = chosen(item, waits, decision, choose);
        if (all.length === 0) return { done: all, behind, freed: 0, undone: 0 };
        const decided = new Set(all.map(({ revision }) => revision));
        const entries = outboxOf(item).flatMap((entry) => entryAfter(entry, decided, decision));
        const { released, undone } = releasedFrom(item, Object.fromEntries(entries));
        const noted = notesOf(item, decided, undone, { decision, at: now.toString() });
        const outbox = Object.fromEntries(entries.filter(([revision]) => !undone.has(revision)));
        if (!(await rewrite(table, integration, item, outbox, noted))) continue;
        const isNews = ({ revision }: { revision: number }) => !undone.has(revision);
        const freed = released.filter((one) => isNews(one) && !decided.has(one.revision)).length;
        return { done: all.filter(isNews), behind, freed, undone: undone.size };
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

/** An event can be released only if no event before it stays held. */
function chosen(
  item: Plain,
  waits: WaitsForOps,
  decision: Decision,
  choose: (event: WaitingEvent) => boolean,
): { done: WaitingEvent[]; behind: number } {
  const isHeld = new Map(outboxOf(item).map(({ revision, raw }) => [revision, raw.held]));
  const isOrdered = waits === 'held' && decision !== 'discarded';
  const done: WaitingEvent[] = [];
  let behind = 0;
  let isBlocked = false;
  for (const event of eventsOf(item, [waits])) {
    if (!choose(event)) isBlocked ||= isHeld.get(event.revision) === true;
    else if (isOrdered && isBlocked) behind += 1;
    else done.push(event);
  }
  return { done, behind };
}

/**
 * Events that are no longer held once this is the outbox, with those that were held only behind
 * others. `undone`: those among them that need not go out.
 */
function releasedFrom(item: Plain, outbox: Plain) {
  const held = outboxOf(item).filter(({ waits }) => waits === 'held');
  const revisions = new Set(held.map(({ revision }) => revision));
  const released = outboxOf({ ...item, outbox }).filter(
    ({ revision, waits }) => waits !== 'held' && revisions.has(revision),
  );
  const events = released.map(({ revision, raw: { told } }) => ({ revision, told }));
  const known = parseCertification(item);
  const isLast = released.at(-1)?.revision === known.revision;
  return { released, undone: detours(events, isLast ? toldOf(known) : undefined) };
}

/** The notes that a decision adds to the history. */
function notesOf(
  item: Plain,
  decided: ReadonlySet<number>,
  undone: ReadonlySet<number>,
  note: z.output<typeof decisionsNoted>['decisions'][number],
): Plain {
  const nameOf = (revision: number) => `revision:${revision}`;
  const isPresent = (name: string) => item[name] !== undefined;
  const decisions = [...decided]
    .map(nameOf)
    .filter(isPresent)
    .map((name): [string, unknown] => {
      const { decisions } = parse(decisionsNoted, item, item[name]);
      return [`${name}${part}decisions`, [...decisions, note]];
    });
  const ends = [...undone]
    .map(nameOf)
    .filter(isPresent)
    .map((name): [string, unknown] => [`${name}${part}undone`, true]);
  return Object.fromEntries([...decisions, ...ends]);
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
