import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { presence } from '../decisions/compare.ts';
import { revisionNoted } from '../decisions/history.ts';
import type { Life } from '../ports/ledger.ts';
import { isOver } from '../tick/time.ts';
import { define } from './definition.ts';
import { StalledError } from './errors.ts';
import { delivery, revisionsTold } from './lives.ts';
import type { LatestPage } from './ops-ledger.ts';
import type { Call, OperationParts } from './parts.ts';
import {
  count,
  day,
  instant,
  kind,
  listOf,
  nameOfAssessment,
  next,
  rangeInOrder,
  selection,
} from './shapes.ts';
import { setting } from './words.ts';

/** Events of one answer: some 500 bytes each, and an answer has 6 MB at most. */
export const eventsAtOnce = 5_000;
/** Days that are listed by default: today and those before. */
const daysAtFirst = 7;
/** From the time of an event to its write: as long as a tick may last, and a little more. */
const writtenWithin = { minutes: 1 };

/**
 * This program is younger: nothing was announced before, and each month of the search is a request.
 */
const noneBefore = Temporal.Instant.from('2026-01-01T00:00:00Z');

/** A place in the order of the list: an event, or a certification by its last event. */
interface Place {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly id: number;
  readonly revision: number;
}

/** Behind every event that is later. */
const behind = (at: number): Place => ({
  ...{ at, id: Number.MAX_SAFE_INTEGER, revision: Number.MAX_SAFE_INTEGER },
});

/**
 * `<instant>`: all later events are listed. `<instant>/<id>/<revision>`: all events down to this
 * one are.
 */
function placeIn(cursor: string): Place | undefined {
  const [at, id, revision] =
    /^([^/]+)(?:\/([1-9]\d{0,14})\/([1-9]\d{0,14}))?$/.exec(cursor)?.slice(1) ?? [];
  if (!instant.safeParse(at).success) return undefined;
  const moment = Date.parse(at ?? '');
  return id === undefined
    ? behind(moment)
    : { at: moment, id: Number(id), revision: Number(revision) };
}

const command = z
  .strictObject({
    command: z.literal('events'),
    /** Of the partner's time zone, both included. Absent: the last seven days, up to now. */
    from: setting(z.optional(day), 'first day (default: six days before the last)'),
    to: setting(z.optional(day), 'last day (default: today)'),
    types: selection.types,
    organizations: selection.organizations,
    /** Names of assessments, as they are. */
    assessments: setting(
      z.optional(listOf(nameOfAssessment, { value: 'name', isRepeated: true })),
      'of the assessment of this name; may be given several times',
      { option: 'assessment', allowed: 'a name of 1 to 200 characters' },
    ),
    /** `false`: only others. Some assistants fill in `false` for all that they do not want. */
    late: setting(z.optional(z.boolean()), 'only those that were late', { means: true }),
    delivery: setting(z.optional(z.array(delivery).check(z.minLength(1))), 'with this delivery', {
      value: 'words',
    }),
    limit: z._default(z.int().check(z.minimum(1), z.maximum(eventsAtOnce)), 100),
    /** Where an earlier call stopped; part of `next`. */
    after: z.optional(
      z.string().check(z.refine((cursor) => placeIn(cursor) !== undefined, 'must be of `next`')),
    ),
  })
  .check(
    z.refine(({ from, to }) => from === undefined || to === undefined || from <= to, rangeInOrder),
  );

const listedEvent = z.object({
  /** The assessment's id. */
  id: count,
  revision: count,
  /** The event's own id. */
  event: z.string(),
  type: kind,
  at: instant,
  delivery,
  late: revisionNoted.shape.late,
  /** Names of the fields that differ from the revision before. */
  changed: z.readonly(z.array(z.string())),
  found: revisionNoted.shape.found,
  /** The certification as it is now, and not at the time of the event. */
  day,
  presence,
  organization_id: z.nullable(z.int()),
  assessment_name: z.nullable(z.string()),
});

type Command = z.output<typeof command>;
type Listed = z.output<typeof listedEvent>;

/**
 * Events of a range of days, the newest first. Nothing personal.
 *
 * A page has the next events below its cursor, of all that there are by then. An event keeps its
 * time and its id, so none is on two pages, and none that was there before the first page is left
 * out. Newer events are above the cursor: another look from the top shows them.
 *
 * The ledger finds a certification by its last event only. So each page looks from now on, and not
 * only from its cursor: a certification that has had another event since is found there, with its
 * earlier ones. Above the cursor, items are read only if they have had several events.
 */
export const events = define({
  does: 'The events of a time, the newest first, each with its delivery.',
  command,
  result: z.object({
    events: z.array(listedEvent),
    /** Certifications of the page whose items cannot be read. */
    unreadable: count,
    next,
  }),
  async carry(parts, command, { time }) {
    const asked = askedFor(parts, command);
    const { found, unreadable, reached, isDone } = await lookedUp(parts, asked, time);
    const complete = [...found.values()].filter(({ at }) => at > reached).sort(newestFirst);
    const page = complete.slice(0, command.limit);
    const last = complete.length > page.length ? page.at(-1) : undefined;
    const end = last ?? behind(reached);
    const result = {
      events: page.map(({ event }) => event),
      unreadable: [...unreadable.values()].filter((one) => !isBelow(one, end)).length,
    };
    if (last === undefined && isDone) return { result };
    const here = { ...command, from: asked.from };
    // The search is still above its own beginning: to resume there would be to begin anew.
    if (last === undefined && reached >= asked.bound.at)
      return { result: { ...result, next: here }, failure: new StalledError() };
    const after = last ? cursorAt(last) : momentOf(reached);
    return { result: { ...result, next: { ...here, after } } };
  },
});

const newestFirst = (a: Place, b: Place) => b.at - a.at || b.id - a.id || b.revision - a.revision;
const isBelow = (place: Place, bound: Place) => newestFirst(place, bound) > 0;
const momentOf = (at: number) =>
  Temporal.Instant.fromEpochMilliseconds(at).toString({ smallestUnit: 'millisecond' });
const cursorAt = ({ at, id, revision }: Place) => `${momentOf(at)}/${id}/${revision}`;

interface Asked {
  readonly command: Command;
  readonly now: Temporal.Instant;
  /** The first day. */
  readonly from: string;
  /** Its beginning, or that of the first month that can have an event. */
  readonly begin: Temporal.Instant;
  /** Every listed event comes below it. */
  readonly bound: Place;
}

function askedFor({ settings, clock }: OperationParts, command: Command): Asked {
  const { timeZone } = settings;
  const now = clock.now();
  const today = now.toZonedDateTimeISO(timeZone).toPlainDate();
  const last = command.to === undefined ? today : Temporal.PlainDate.from(command.to);
  const from = command.from ?? last.subtract({ days: daysAtFirst - 1 }).toString();
  const asked = Temporal.PlainDate.from(from).toZonedDateTime(timeZone).toInstant();
  const begin = Temporal.Instant.compare(asked, noneBefore) < 0 ? noneBefore : asked;
  const end = last.add({ days: 1 }).toZonedDateTime(timeZone);
  const top = behind(end.epochMilliseconds - 1);
  const bound = command.after === undefined ? top : (placeIn(command.after) ?? top);
  return { command, now, from, begin, bound };
}

/** `found` by the events' ids, `unreadable` by those of the certifications. */
interface Found {
  readonly found: Map<string, Place & { readonly event: Listed }>;
  readonly unreadable: Map<number, Place>;
}

/** @returns also how far back everything was found, and whether that is the whole list */
async function lookedUp(
  parts: OperationParts,
  asked: Asked,
  time: Call['time'],
): Promise<Found & { readonly reached: number; readonly isDone: boolean }> {
  const { clock, opsLedger } = parts;
  const { command, begin, now, bound } = asked;
  const all: Found = { found: new Map(), unreadable: new Map() };
  const isWanted = (last: Place) => last.revision > 1 || isBelow(last, bound);
  let reached = Number.POSITIVE_INFINITY;
  let isCut = false;
  for await (const page of opsLedger.latest(begin, now, isWanted)) {
    take(parts, asked, page, all);
    ({ reached } = page);
    isCut =
      isMoreThan(command.limit, all.found.values(), reached) || isOver(time, parts.clock.now());
    if (isCut) break;
  }
  // Certifications that have moved up before the search came to their places.
  const recently = now.subtract(writtenWithin);
  for await (const page of opsLedger.latestSince(recently, clock.now(), isWanted))
    take(parts, asked, page, all);
  return { ...all, reached: isCut ? reached : begin.epochMilliseconds - 1, isDone: !isCut };
}

function take(
  { settings }: OperationParts,
  { command, begin, bound }: Asked,
  { lives, unreadable }: Omit<LatestPage, 'reached'>,
  all: Found,
): void {
  for (const event of lives.flatMap((life) => listed(settings.name, life, command))) {
    const place = { at: Date.parse(event.at), id: event.id, revision: event.revision };
    const isWithin = place.at >= begin.epochMilliseconds && isBelow(place, bound);
    if (isWithin) all.found.set(event.event, { ...place, event });
  }
  for (const last of unreadable) if (isBelow(last, bound)) all.unreadable.set(last.id, last);
}

/** The events of a certification that are asked for. */
function listed(integration: string, life: Life, asked: Command): Listed[] {
  const { id, day, presence, organization_id, assessment_name } = life.certification;
  const { organizations, assessments } = asked;
  const isAsked =
    (organizations?.some((one) => one === organization_id) ?? true) &&
    (assessments?.some((one) => one === assessment_name) ?? true);
  if (!isAsked) return [];
  return revisionsTold(integration, life).flatMap((one) => {
    const { kind: type, event, revision, at, delivery, late, changed, found } = one;
    if (type === 'baseline' || event === undefined) return [];
    const isListed =
      (asked.types?.includes(type) ?? true) && (asked.delivery?.includes(delivery) ?? true);
    if (!isListed || (asked.late ?? late) !== late) return [];
    const what = { id, revision, event, type, at, delivery, late, changed, found };
    return [{ ...what, day, presence, organization_id, assessment_name }];
  });
}

/**
 * Whether there are more events after this moment than a page takes. Of those at this very moment,
 * some may be lacking.
 */
function isMoreThan(limit: number, places: Iterable<Place>, reached: number): boolean {
  let many = 0;
  for (const { at } of places) if (at > reached) many += 1;
  return many > limit;
}
