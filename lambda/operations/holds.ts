import { Temporal } from 'temporal-polyfill';
import type { KeptEvent } from '../ports/ledger.ts';
import { kind, type ResultOf, type Selection } from './contract.ts';
import type { Carrier } from './parts.ts';

type Listed = ResultOf<'holds'>['list'][number];

/** Events that one answer names: some 200 bytes each, and an answer has 6 MB at most. */
const listedAtOnce = 10_000;

/** What waits for ops, event by event. Nothing personal. */
export const holds: Carrier<'holds'> = async ({ clock, ledger }, command, { limit }) => {
  const at = clock.now().toString();
  const list: Listed[] = [];
  let unreadable = 0;
  for await (const page of ledger.kept(command.waiting, command.after)) {
    list.push(...page.owed.filter((event) => isSelected(event, command)).map(listed));
    unreadable += page.unreadable.length;
    if (limit.noteIfReached() || list.length >= listedAtOnce)
      return { result: { at, list, unreadable, next: { ...command, after: page.end } } };
  }
  return { result: { at, list, unreadable } };
};

/** An outbox may hold much more of it. */
function listed(kept: KeptEvent): Listed {
  const { certificationId: id, revision, event, code } = kept;
  const { organization_id } = event.data.assessment;
  return {
    id,
    revision,
    type: kindOf(kept),
    since: event.time,
    organization_id,
    year: yearOf(kept),
    code,
  };
}

/** Whether an event that waits for ops is among those that a command speaks of. */
export function isSelected(kept: KeptEvent, selection: Selection): boolean {
  const { organizations, years, types, ids, until } = selection;
  const { time, data } = kept.event;
  return (
    (organizations?.some((id) => id === data.assessment.organization_id) ?? true) &&
    (years?.includes(yearOf(kept)) ?? true) &&
    (types?.includes(kindOf(kept)) ?? true) &&
    (ids?.includes(kept.certificationId) ?? true) &&
    (until === undefined || Temporal.Instant.compare(time, until) <= 0)
  );
}

/** Of its `certified_on`. */
const yearOf = ({ event }: KeptEvent) => Number(event.data.assessment.certified_on.slice(0, 4));

/** A test event never gets into an outbox. */
export const kindOf = ({ event }: KeptEvent) =>
  kind.parse(event.type.replace('certification.', ''));
