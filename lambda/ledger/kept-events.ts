import type { OpsLedger } from '../operations/ops-ledger.ts';
import type { Decision, Kept, KeptEvent } from '../ports/ledger.ts';
import {
  certificationKey,
  decisionsAbout,
  type Entry,
  eventsOf,
  filedUnder,
  isAsRead,
  outboxOf,
  outboxWrites,
  revisionAttribute,
  waitOf,
} from './certification-item.ts';
import { LedgerUnavailableError } from './errors.ts';
import { type Plain, path, type Table } from './table.ts';

/** Only a writer without the lease comes in between. */
const attempts = 5;

/**
 * What ops decide about the events that wait for them.
 *
 *   decide  condition: the outbox is as it was read
 */
export function keptEvents(table: Table, integration: string) {
  return {
    async decide(certificationId, waits, decision, choose, now) {
      const key = certificationKey(integration, certificationId);
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const item = await table.get(key);
        if (item === undefined) return { done: [], behind: 0, freed: 0 };
        const { free, behind } = chosen(item, waits, decision, choose);
        if (free.length === 0) return { done: [], behind, freed: 0 };
        const decided = new Set(free.map(({ revision }) => revision));
        const outbox = outboxAfter(item, decided, decision);
        const after = outboxOf({ ...item, outbox });
        const noted = [...decided].filter((one) => item[revisionAttribute(one)] !== undefined);
        const note = { decision, at: now.toString() };
        const written = await table.update(key, {
          set: {
            ...filedUnder(integration, waitOf(after)),
            ...Object.fromEntries(
              noted.map((one) => [
                path(revisionAttribute(one), 'decisions'),
                [...decisionsAbout(item, one), note],
              ]),
            ),
            outbox,
          },
          add: { [outboxWrites]: 1 },
          ...isAsRead(item),
        });
        if (written === undefined) continue;
        return { done: free, behind, freed: freedBy(decided, outboxOf(item), after) };
      }
      throw new LedgerUnavailableError('UpdateItem', { cause: new Error('others write, too') });
    },
  } satisfies Partial<OpsLedger>;
}

/** To be released, an event must have none before it that goes on to be held. */
function chosen(
  item: Plain,
  waits: Kept,
  decision: Decision,
  choose: (event: KeptEvent) => boolean,
): { free: KeptEvent[]; behind: number } {
  const isHeld = new Map(outboxOf(item).map(({ revision, raw }) => [revision, raw.held]));
  const isOrdered = waits === 'held' && decision !== 'discarded';
  const free: KeptEvent[] = [];
  let behind = 0;
  let isBlocked = false;
  for (const event of eventsOf(item, [waits])) {
    if (!choose(event)) isBlocked ||= isHeld.get(event.revision) === true;
    else if (isOrdered && isBlocked) behind += 1;
    else free.push(event);
  }
  return { free, behind };
}

function outboxAfter(item: Plain, decided: ReadonlySet<number>, decision: Decision): Plain {
  const after: Plain = {};
  for (const { revision, raw } of outboxOf(item)) {
    const { held: _, undeliverable: __, ...rest } = raw;
    if (!decided.has(revision)) after[revision] = raw;
    else if (decision === 'released-to-people') after[revision] = { ...rest, owes: 'digest' };
    else if (decision !== 'discarded') after[revision] = rest;
  }
  return after;
}

/** Events that were held only because one before them was: nobody has decided about them, and they go out. */
function freedBy(
  decided: ReadonlySet<number>,
  before: readonly Entry[],
  after: readonly Entry[],
): number {
  const held = before.filter(({ waits }) => waits === 'held').map(({ revision }) => revision);
  return after.filter(
    ({ revision, waits }) =>
      waits === 'pending' && held.includes(revision) && !decided.has(revision),
  ).length;
}
