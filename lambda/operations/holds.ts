import { Temporal } from 'temporal-polyfill';
import { briefName } from '../events/message.ts';
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
  const names = new Map<string, string>();
  let unreadable = 0;
  const told = () => ({ at, list, organizationNames: Object.fromEntries(names), unreadable });
  for await (const page of ledger.kept(command.waiting, command.after)) {
    const selected = page.owed.filter((event) => isSelected(event, command));
    list.push(...selected.map(listed));
    for (const [id, name] of selected.flatMap(organizationOf)) names.set(id, name);
    unreadable += page.unreadable.length;
    if (limit.noteIfReached() || list.length >= listedAtOnce)
      return { result: { ...told(), next: { ...command, after: page.end } } };
  }
  return { result: told() };
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

/** Its id and name, where the event has both. */
function organizationOf({ event }: KeptEvent): [id: string, name: string][] {
  const { assessment } = event.data;
  const name = 'organization_name' in assessment ? assessment.organization_name : undefined;
  if (typeof name !== 'string' || name === '') return [];
  return [[String(assessment.organization_id), briefName(name)]];
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
