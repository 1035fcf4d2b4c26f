import type { OpsLedger } from '../operations/ops-ledger.ts';
import type { Decision, Kept, KeptEvent } from '../ports/ledger.ts';
import {
  certificationKey,
  decisionsAbout,
  type Entry,
  eventsOf,
  outboxOf,
  revisionAttribute,
} from './certification-item.ts';
import { rewrite } from './certifications.ts';
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
        const { done, behind } = chosen(item, waits, decision, choose);
        if (done.length === 0) return { done, behind, freed: 0 };
        const decided = new Set(done.map(({ revision }) => revision));
        const before = outboxOf(item);
        const outbox = Object.fromEntries(
          before.flatMap((entry) => entryAfter(entry, decided, decision)),
        );
        const note = { decision, at: now.toString() };
        const noted = [...decided]
          .filter((one) => item[revisionAttribute(one)] !== undefined)
          .map((one) => [
            path(revisionAttribute(one), 'decisions'),
            [...decisionsAbout(item, one), note],
          ]);
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
  } satisfies Partial<OpsLedger>;
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
