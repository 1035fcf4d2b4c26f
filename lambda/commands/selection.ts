import pMap from 'p-map';
import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { DayEntry } from '../decisions/calendar.ts';
import type { Change } from '../decisions/compare.ts';
import type { Assessment } from '../events/assessment.ts';
import type { Life, Revision } from '../ports/ledger.ts';
import { deadlineOf, readingDeadline } from '../tick/time.ts';
import type { Call, OperationParts } from './parts.ts';
import { day, rangeInOrder, selection } from './shapes.ts';
import { setting } from './words.ts';

/** Certifications whose last event is sent again; `types`: the types of that event. */
export const replaySelection = {
  /** Both included; open where one is absent. */
  days: z.optional(
    z
      .strictObject({ from: z.optional(day), to: z.optional(day) })
      .check(
        z.refine(
          ({ from, to }) => from === undefined || to === undefined || from <= to,
          rangeInOrder,
        ),
      ),
  ),
  ids: setting(selection.ids, 'these assessments'),
  organizations: selection.organizations,
  types: setting(selection.types, 'whose last event was of these types'),
};

/** Why nothing is sent of a selected certification. */
export const obstacles = z.enum([
  /** The partner's record has changed since its last event: a tick announces the change. */
  'changed',
  /** Its last event is still in the outbox: a tick delivers it. */
  'pending',
  /** Its last event waits for ops to release it. */
  'held',
  /** SNS has refused its last event for good. */
  'undeliverable',
  /** Subscribers do not get its last event: ops decided so, or all of its events were undone. */
  'discarded',
  /** Recorded by the baseline, and `baseline` was not asked for. */
  'neverAnnounced',
  /** The partner's record has no usable id or no valid day. */
  'unreadable',
  /** Recorded before the ledger had a history: the type of its event is not known. */
  'withoutHistory',
  /** The target refused it as invalid. */
  'refused',
  /** An id of `ids` that the ledger lacks, or cannot read. The last call counts these. */
  'unknown',
]);

export type Obstacle = z.output<typeof obstacles>;

interface Asked extends z.output<z.ZodMiniObject<typeof replaySelection>> {
  readonly baseline: boolean;
  readonly after?: string | undefined;
}

/** Assessments that one request reads as a range: one less than a page. */
const rowsTogether = 99;
/** Days that are replayed together; each is a Query of the ledger. */
const daysTogether = 100;
/** The last day that there can be: some hosts date records with it that have no day yet. */
const lastDay = '9999-12-31';
const queriesAtOnce = 8;

/** A certification, and its last event. */
export interface SelectedCertification {
  readonly life: Life;
  /**
   * Its revision, or the last one before it that was not undone; absent: recorded before there was
   * a history.
   */
  readonly last: Revision | undefined;
  /** The type of its last event; `created` for one that the baseline recorded. */
  readonly kind: Change['kind'] | undefined;
  /** The obstacle to a replay that the ledger alone shows. */
  readonly obstacle: Obstacle | undefined;
}

/** The partner's record of a certification; `undefined` if it is gone. */
export type Find = (id: number) => Promise<Assessment | 'unreadable' | undefined>;

/** Certifications that are replayed together. */
export interface ReplayGroup {
  /** By day, and by id within a day: the order of a replay. */
  readonly items: readonly SelectedCertification[];
  /** The cursor behind all of these days, certifications that were not selected included. */
  readonly end: string | undefined;
  readonly find: Find;
}

/**
 * The certifications of the selected days, ids, organizations and types that come after the cursor,
 * from the oldest day on. They are read from the ledger as the replay goes: a replay of everything
 * holds only those of a few days.
 *
 * @param years the years of the calendar's entries
 * @param onUnknown called once all else is done, with the number of requested ids that the ledger
 * lacks
 */
export async function* replayGroups(
  parts: OperationParts,
  years: Iterable<number>,
  command: Asked,
  time: Call['time'],
  onUnknown: (ids: number) => void,
): AsyncGenerator<ReplayGroup> {
  const { ledger, partner } = parts;
  const { ids } = command;
  const byId: Find = (id) => partner.get(id, deadlineOf(time));
  if (ids !== undefined) {
    const known = await ledger.lives(ids);
    const items = selected(known, command);
    const last = items.at(-1);
    yield { items, end: last ? cursorAt(last) : command.after, find: byId };
    onUnknown(new Set(ids).size - known.size);
    return;
  }
  // Every day on which anything was ever recorded is in the calendar.
  const [first, last] = [command.days?.from, command.days?.to].map((day) => day?.slice(0, 4));
  const asked = [...years].filter(
    (year) => year >= Number(first ?? 0) && year <= Number(last ?? 9_999),
  );
  const ahead = [...(await ledger.calendar(asked))]
    .filter(([day]) => isWithin(day, command.days))
    .filter(([day]) => isAhead(day, Number.POSITIVE_INFINITY, command.after))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  for (const { days, rows } of packed(ahead)) {
    const [first = '', last = first] = [days[0], days.at(-1)];
    const indexed = await pMap(days, (day) => ledger.knownOfDay(day), {
      concurrency: queriesAtOnce,
    });
    const lives = await ledger.lives(indexed.flatMap((ofDay) => [...ofDay.keys()]));
    // The index lags: a certification that has left these days is met on its new day.
    const items = selected(lives, command).filter(({ life }) =>
      days.includes(life.certification.day),
    );
    const requests = Math.ceil((rows + 1) / (rowsTogether + 1));
    const isFewer = items.filter(isRecordNeeded).length > requests;
    const range = { from: Temporal.PlainDate.from(first), to: Temporal.PlainDate.from(last) };
    yield { items, end: last, find: isFewer ? inRange(parts, range, time, byId) : byId };
  }
}

/** Whether the partner's record is needed to rebuild its event. */
const isRecordNeeded = ({ kind, obstacle }: SelectedCertification) =>
  obstacle === undefined && kind !== 'withdrawn';

/** Finds records by one read of their range, once the first is asked for. */
function inRange(
  { partner, clock }: OperationParts,
  range: Parameters<OperationParts['partner']['prove']>[0],
  time: Call['time'],
  byId: Find,
): Find {
  const readRange = async () => {
    const read = await partner.prove(range, readingDeadline(time, clock.now()));
    const seen = new Map<number | undefined, Assessment | 'unreadable'>([
      ...read.quarantined.map(({ id }) => [id, 'unreadable'] as const),
      ...read.assessments.map((assessment) => [assessment.id, assessment] as const),
    ]);
    // Only a proof says that an unseen record is not there.
    return (id: number) => seen.get(id) ?? (read.proof === undefined ? byId(id) : undefined);
  };
  let reading: ReturnType<typeof readRange> | undefined;
  return async (id) => {
    reading ??= readRange();
    return (await reading)(id);
  };
}

function selected(lives: ReadonlyMap<number, Life>, command: Asked): SelectedCertification[] {
  const { organizations, types, days, after } = command;
  return [...lives.values()]
    .map((life) => {
      const last = lastToldOf(life);
      const kind = last?.kind === 'baseline' ? 'created' : last?.kind;
      return { life, last, kind, obstacle: obstacleTo(last, command) };
    })
    .filter(({ life, kind }) => {
      const { id, day, organization_id } = life.certification;
      return (
        isWithin(day, days) &&
        (organizations?.some((one) => one === organization_id) ?? true) &&
        (types?.some((type) => type === kind) ?? true) &&
        isAhead(day, id, after)
      );
    })
    .sort(({ life: { certification: a } }, { life: { certification: b } }) =>
      a.day === b.day ? a.id - b.id : a.day < b.day ? -1 : 1,
    );
}

/** An undone revision has left the certification as it was, so its last event is an earlier one. */
function lastToldOf({ revisions, certification }: Life): Revision | undefined {
  const last = revisions.findLast(({ revision }) => revision === certification.revision);
  return last?.undone ? (revisions.findLast(({ undone }) => !undone) ?? last) : last;
}

function obstacleTo(last: Revision | undefined, { baseline }: Asked): Obstacle | undefined {
  if (last === undefined) return 'withoutHistory';
  if (last.kind === 'baseline' && !baseline) return 'neverAnnounced';
  const decision = last.decisions.at(-1)?.decision;
  const isDecided = decision === 'discarded' || decision === 'released-to-people';
  if (isDecided || last.undone) return 'discarded';
  // Subscribers have it: only people are still to be told.
  return last.waits === 'digest' ? undefined : last.waits;
}

/** The cursor of a replay that has come to this certification: see `after` of the command. */
export function cursorAt({ life: { certification } }: SelectedCertification): string {
  return `${certification.day}/${certification.id}`;
}

/** Whether a replay that has come to the cursor still has this before it. */
function isAhead(day: string, id: number, cursor = ''): boolean {
  const [reached = '', lastId = Number.POSITIVE_INFINITY] = cursor.split('/');
  return day > reached || (day === reached && id > Number(lastId));
}

function isWithin(day: string, { from = '', to = lastDay }: Asked['days'] = {}): boolean {
  return day >= from && day <= to;
}

/** Days that can be read with one request; a larger day is alone. */
function* packed(entries: readonly [day: string, entry: DayEntry][]) {
  let days: string[] = [];
  let rows = 0;
  for (const [day, { count }] of entries) {
    if (days.length === daysTogether || (days.length > 0 && rows + count > rowsTogether)) {
      yield { days, rows };
      days = [];
      rows = 0;
    }
    days.push(day);
    rows += count;
  }
  if (days.length > 0) yield { days, rows };
}
