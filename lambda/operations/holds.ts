import { Temporal } from 'temporal-polyfill';
import type { KeptEvent } from '../ports/ledger.ts';
import { kind, noneOfAnyKind } from './contract/common.ts';
import type { ResultOf, Selection } from './contract.ts';
import type { Carrier } from './parts.ts';

/** Events that one answer names: some 100 bytes each, and an answer has 6 MB at most. */
const listedAtOnce = 1_000;

/** What waits for ops, counted by kind, organization and year, and listed if asked. Nothing personal. */
export const holds: Carrier<'holds'> = async ({ clock, opsLedger }, command, { limit }) => {
  const at = clock.now().toString();
  const found: Row[] = [];
  let unreadable = 0;
  let after = command.after;
  let isStopped = false;
  for await (const page of opsLedger.kept(command.waiting, command.after)) {
    found.push(...page.owed.filter((event) => isSelected(event, command)).map(rowOf));
    unreadable += page.unreadable.length;
    after = page.end;
    isStopped = limit.noteIfReached() || (command.list && found.length >= listedAtOnce);
    if (isStopped) break;
  }
  found.sort(byAge);
  const result = {
    ...{ at, ...sumsOf(found), unreadable },
    list: command.list ? found.map(({ listed }) => listed) : undefined,
    next: isStopped ? { ...command, after } : undefined,
  };
  return { result };
};

/** An event, by what is counted of it: an outbox may hold much more. */
type Row = ReturnType<typeof rowOf>;
type Listed = NonNullable<ResultOf<'holds'>['list']>[number];

function rowOf(kept: KeptEvent) {
  const { certificationId: id, revision, event, code } = kept;
  const listed: Listed = { id, revision, type: kindOf(kept), since: event.time, code };
  return { listed, year: yearOf(kept), organization_id: event.data.assessment.organization_id };
}

/** Not as text: fractions of a second have as many digits as they need. */
const byAge = ({ listed: a }: Row, { listed: b }: Row) =>
  Temporal.Instant.compare(a.since, b.since) || a.id - b.id || a.revision - b.revision;

/** @param rows the oldest first */
function sumsOf(rows: readonly Row[]) {
  const byType = noneOfAnyKind();
  for (const { listed } of rows) byType[listed.type] += 1;
  return {
    events: rows.length,
    certifications: new Set(rows.map(({ listed }) => listed.id)).size,
    byType,
    byOrganization: [...Map.groupBy(rows, ({ organization_id }) => organization_id)]
      .map(([organization_id, { length: events }]) => ({ organization_id, events }))
      .sort((a, b) => b.events - a.events || Number(a.organization_id) - Number(b.organization_id)),
    byYear: [...Map.groupBy(rows, ({ year }) => year)]
      .map(([year, { length: events }]) => ({ year, events }))
      .sort((a, b) => b.year - a.year),
    oldest: rows.at(0)?.listed.since,
    newest: rows.at(-1)?.listed.since,
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
