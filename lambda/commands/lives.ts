import * as z from 'zod/mini';
import type { Life, Revision } from '../ports/ledger.ts';

/**
 * The fate of a revision.
 *
 * - `baseline`: recorded, not announced.
 * - `announced`: SNS has accepted it, and people are told as well.
 * - `digest-owed`: SNS has accepted it, and people are still to be told.
 * - `announced-to-people`: released for people, and not for subscribers.
 * - `digest-only-owed`: the same, and people are still to be told.
 * - `undone`: it was held, or undid held ones, and left the outbox by itself.
 */
export const delivery = z.enum([
  'baseline',
  'announced',
  'announced-to-people',
  'digest-owed',
  'digest-only-owed',
  'pending',
  'held',
  'undeliverable',
  'discarded',
  'undone',
]);

type Delivery = z.output<typeof delivery>;

/** The revisions of a certification, each with its event and its delivery. */
export function revisionsTold(integration: string, { certification, revisions }: Life) {
  return revisions.map((one) => ({
    ...one,
    /** The event's id; absent: no event was made. */
    event:
      one.kind === 'baseline' ? undefined : `${integration}/${certification.id}/${one.revision}`,
    delivery: deliveryOf(one),
  }));
}

function deliveryOf({ kind, waits, undone, decisions }: Revision): Delivery {
  const last = decisions.at(-1)?.decision;
  if (waits === 'digest') return last === 'released-to-people' ? 'digest-only-owed' : 'digest-owed';
  if (waits !== undefined) return waits;
  if (undone) return 'undone';
  if (last === 'discarded') return 'discarded';
  if (last === 'released-to-people') return 'announced-to-people';
  return kind === 'baseline' ? 'baseline' : 'announced';
}
