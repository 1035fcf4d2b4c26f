import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { stillHolding } from '../decisions/gate.ts';
import { briefName } from '../events/sns-message.ts';
import type { WaitingEvent } from '../ports/ledger.ts';
import { isOver } from '../tick/time.ts';
import { define } from './definition.ts';
import type { OperationParts } from './parts.ts';
import {
  count,
  holding,
  instant,
  kind,
  next,
  type WaitingSelection,
  waitingSelection,
} from './shapes.ts';

const listedEvent = z.object({
  /** The assessment's id, as `ids` takes it. */
  id: z.int(),
  revision: count,
  type: kind,
  /** When it was committed. */
  since: instant,
  /** Null: the record has no organization. */
  organization_id: z.nullable(z.int()),
  /** The year of `certified_on`. */
  year: z.int(),
  /** The code with which SNS refused it for good. */
  code: z.optional(z.string()),
});

type Listed = z.output<typeof listedEvent>;

/** Events that one answer names: some 200 bytes each, and an answer has 6 MB at most. */
const listedAtOnce = 10_000;

/** Events that wait for ops, one by one. Nothing personal. */
export const holds = define({
  does: 'The events that wait for a decision of ops, by type, organization and year.',
  command: z.strictObject({ command: z.literal('holds'), ...waitingSelection }),
  /** The answer of one call; with `next`, the list goes on in another answer. */
  result: z.object({
    /** When the list was made: as `until`, it limits a release to the events in the list. */
    at: instant,
    list: z.array(listedEvent),
    /** Names of the organizations in the list, by id, as far as events have them. */
    organizationNames: z._default(z.record(z.string(), z.string()), {}),
    /** Outboxes that cannot be read. */
    unreadable: count,
    holding,
    next,
  }),
  async carry(parts, command, { time }) {
    const { clock, ledger } = parts;
    const at = clock.now().toString();
    const list: Listed[] = [];
    const names = new Map<string, string>();
    let unreadable = 0;
    const holding = command.waiting === 'held' ? await holdingNow(parts) : {};
    const told = () => ({
      ...{ at, list, organizationNames: Object.fromEntries(names), unreadable, ...holding },
    });
    for await (const page of ledger.waitingForOps(command.waiting, command.after)) {
      const selected = page.owed.filter((event) => isSelected(event, command));
      list.push(...selected.map(listed));
      for (const [id, name] of selected.flatMap(organizationOf)) names.set(id, name);
      unreadable += page.unreadable.length;
      if (isOver(time, parts.clock.now()) || list.length >= listedAtOnce)
        return { result: { ...told(), next: { ...command, after: page.end } } };
    }
    return { result: told() };
  },
});

/** As the last tick or command with the lease has left the gate. */
export async function holdingNow({ clock, ledger, settings }: OperationParts) {
  const { epochMilliseconds } = clock.now();
  const holding = stillHolding(await ledger.gate(), settings.holdAbove, epochMilliseconds);
  if (holding === undefined) return {};
  const until = Temporal.Instant.fromEpochMilliseconds(holding.until).toString();
  return { holding: { until, types: [...holding.kinds] } };
}

/** A short form: an event in an outbox may be much larger. */
function listed(waiting: WaitingEvent): Listed {
  const { certificationId: id, revision, event, code } = waiting;
  const { organization_id } = event.data.assessment;
  return {
    id,
    revision,
    type: kindOf(waiting),
    since: event.time,
    organization_id,
    year: yearOf(waiting),
    code,
  };
}

/** Its id and name, where the event has both. */
function organizationOf({ event }: WaitingEvent): [id: string, name: string][] {
  const { assessment } = event.data;
  const name = 'organization_name' in assessment ? assessment.organization_name : undefined;
  if (typeof name !== 'string' || name === '') return [];
  return [[String(assessment.organization_id), briefName(name)]];
}

/** Whether a command's selection has this event. */
export function isSelected(waiting: WaitingEvent, selection: WaitingSelection): boolean {
  const { organizations, years, types, ids, until } = selection;
  const { time, data } = waiting.event;
  return (
    (organizations?.some((id) => id === data.assessment.organization_id) ?? true) &&
    (years?.includes(yearOf(waiting)) ?? true) &&
    (types?.includes(kindOf(waiting)) ?? true) &&
    (ids?.includes(waiting.certificationId) ?? true) &&
    (until === undefined || Temporal.Instant.compare(time, until) <= 0)
  );
}

/** The year of its `certified_on`. */
const yearOf = ({ event }: WaitingEvent) => Number(event.data.assessment.certified_on.slice(0, 4));

/** A test event never gets into an outbox. */
export const kindOf = ({ event }: WaitingEvent) =>
  kind.parse(event.type.replace('certification.', ''));
