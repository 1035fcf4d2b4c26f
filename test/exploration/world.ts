import type { Assessment } from '../../lambda/events/assessment.ts';
import type { ListQuery, Page } from '../../lambda/partner/index.ts';
import { RowsByDay } from '../../local/partner-sandbox/rows.ts';
import { answer, type HostRecord } from '../scaffold/listing.ts';
import { once } from '../scaffold/once.ts';
import { assessment } from '../support/assessments.ts';

/** The first one is today, the other one is long ago. */
export const days = ['2026-11-20', '2026-09-01'] as const;
type Day = (typeof days)[number];

/** All possible certifications. The first two share a name: the host may order them either way. */
const people = [
  { first_name: 'Ada', last_name: 'Ash', legacy: true, archived: false },
  { first_name: 'Ada', last_name: 'Ash', legacy: false, archived: false },
  { first_name: 'Bo', last_name: 'Birch', legacy: false, archived: true },
] as const;

interface Row {
  readonly id: number;
  readonly day: Day;
  /** Another one after each edit. */
  readonly version: number;
}

/** Times of events, as far as verdicts need them. */
export const moments = { born: 0, beforeBaseline: 1, inBaseline: 2, afterBaseline: 3 } as const;
type Moment = (typeof moments)[keyof typeof moments];

export interface Instant {
  readonly nowMs: number;
  readonly moment: Moment;
}

/** The truth at the partner, as a value. */
export interface World {
  /** It is small, so that pages and ties occur. */
  readonly rowsOfPage: number;
  readonly rows: readonly Row[];
  readonly gone: readonly (Row & { readonly sinceMs: number })[];
  /** The host orders equals the other way round. */
  readonly isSwapped: boolean;
  readonly births: Readonly<Record<number, { readonly moment: Moment; readonly day: string }>>;
  /** The first time when a certification was changed other than by an edit. */
  readonly disturbedAt: Readonly<Record<number, Moment>>;
  /** The time when a certification appeared or returned, in milliseconds since the epoch. */
  readonly backAt: Readonly<Record<number, number>>;
  /** The earlier world of a lagging replica. */
  readonly before?: Replica;
}

interface Replica {
  readonly rows: readonly Row[];
  /** The time of the last move, in milliseconds since the epoch. */
  readonly until: number;
  /** A newer answer has been given since. */
  readonly isOutdated: boolean;
}

/** A question to the partner: a page of the list, or one certification. */
export type Question = { readonly list: ListQuery } | { readonly id: number };

/** The name of the partner's move: `edit-1`. */
export type Move = string;

export function worldOf(born: readonly Day[], rowsOfPage: number): World {
  const rows = born.map((day, index) => ({ id: index + 1, day, version: 0 }));
  return {
    rowsOfPage,
    rows,
    gone: [],
    isSwapped: false,
    births: Object.fromEntries(rows.map(({ id, day }) => [id, { moment: moments.born, day }])),
    disturbedAt: {},
    backAt: {},
  };
}

const known = new WeakMap<World, Map<string, Moves>>();

type Moves = ReadonlyMap<Move, World>;

/**
 * The partner's next moves, with the world after each. They are the same objects each time, since
 * most executions pass the same worlds.
 *
 * @param isLast nothing moves any more then, and no replica is asked
 */
export function movesOf(world: World, now: Instant, isLast: boolean): Moves {
  const key = `${now.nowMs} ${now.moment} ${isLast}`;
  const before = once(known, world, () => new Map<string, Moves>());
  const settled = (moved: World) => (isLast ? atRest(moved) : moved);
  return once(
    before,
    key,
    () => new Map([...movesFrom(world, now)].map(([move, moved]) => [move, settled(moved)])),
  );
}

/** The world without its replica. */
export function atRest({ before: _, ...world }: World): World {
  return world;
}

function* movesFrom(world: World, now: Instant): Generator<readonly [Move, World]> {
  const born = Object.keys(world.births).length;
  if (born < people.length)
    for (const [nth, day] of days.entries())
      yield [`appear-${born + 1}-on-${nth}`, appeared(world, born + 1, day, now)];
  for (const { sinceMs: _, ...row } of world.gone)
    yield [`return-${row.id}`, returned(world, row, now)];
  for (const row of world.rows) {
    yield [`vanish-${row.id}`, vanished(world, row, now)];
    yield [`edit-${row.id}`, altered(world, row, {}, now)];
    const day = row.day === days[0] ? days[1] : days[0];
    yield [`move-${row.id}`, altered(world, row, { day }, now)];
  }
  if (world.rows.length > 1) yield ['swap', { ...world, isSwapped: !world.isSwapped }];
}

function after(
  world: World,
  changed: Partial<World>,
  { nowMs, moment }: Instant,
  disturbed: readonly number[] = [],
): World {
  const disturbedAt = { ...world.disturbedAt };
  for (const id of disturbed) disturbedAt[id] ??= moment;
  const before = { rows: world.rows, until: nowMs, isOutdated: false };
  return { ...world, disturbedAt, before, ...changed };
}

const byId = <One extends Row>(rows: readonly One[]) => rows.toSorted((a, b) => a.id - b.id);

function appeared(world: World, id: number, day: Day, now: Instant): World {
  const rows = byId([...world.rows, { id, day, version: 0 }]);
  const births = { ...world.births, [id]: { moment: now.moment, day } };
  return after(world, { rows, births, backAt: { ...world.backAt, [id]: now.nowMs } }, now);
}

function returned(world: World, row: Row, now: Instant): World {
  const gone = world.gone.filter(({ id }) => id !== row.id);
  const backAt = { ...world.backAt, [row.id]: now.nowMs };
  return after(world, { rows: byId([...world.rows, row]), gone, backAt }, now);
}

function vanished(world: World, row: Row, now: Instant): World {
  const rows = world.rows.filter(({ id }) => id !== row.id);
  const gone = byId([...world.gone, { ...row, sinceMs: now.nowMs }]);
  return after(world, { rows, gone }, now, [row.id]);
}

function altered(world: World, row: Row, change: Partial<Row>, now: Instant): World {
  const edited = { ...row, ...change, version: row.version + 1 };
  const rows = world.rows.map((one) => (one.id === row.id ? edited : one));
  const isMoved = edited.day !== row.day;
  return after(world, { rows }, now, isMoved ? [row.id] : []);
}

const records = new Map<string, HostRecord>();

/** The same object each time, by which fingerprints are cached. */
function recordOf({ id, day, version }: Row): HostRecord {
  const key = `${id} ${day} ${version}`;
  const { legacy, archived, ...name } = people[id - 1] ?? people[0];
  const full = { ...name, name: `${name.first_name} ${name.last_name}` };
  const email = `${id}-${version}@example.org`;
  return once(records, key, () => ({
    assessment: assessment({ id, certified_on: day, ...full, email }),
    legacy,
    archived,
  }));
}

/** The records in the form of the simulation's verdict. */
export function entriesOf({ rows }: World): ReadonlyMap<number, HostRecord> {
  return new Map(rows.map((row) => [row.id, recordOf(row)]));
}

const replicas = new WeakMap<World, World>();

/** The world of a replica that is one move behind. */
export function replicaOf(world: World): World {
  return once(replicas, world, () => ({ ...world, rows: world.before?.rows ?? world.rows }));
}

const outdated = new WeakMap<World, World>();

/** The current world has been in an answer. */
export function shownIn(world: World): World {
  const { before } = world;
  if (before === undefined || before.isOutdated) return world;
  return once(outdated, world, () => ({ ...world, before: { ...before, isOutdated: true } }));
}

export interface WorldAnswer {
  readonly answer: Page | Assessment | undefined;
  /** The contents that distinguish it from others. */
  readonly content: string;
}

const answers = new WeakMap<World, Map<string, WorldAnswer>>();
const texts = new WeakMap<Question, string>();

export function answerIn(world: World, question: Question): WorldAnswer {
  const given = once(answers, world, () => new Map<string, WorldAnswer>());
  const key = once(texts, question, () => JSON.stringify(question));
  return once(given, key, () =>
    'list' in question ? listIn(world, question.list) : singleIn(world, question.id),
  );
}

function listIn({ rows, rowsOfPage, isSwapped }: World, query: ListQuery): WorldAnswer {
  const page = Math.min(query.page ?? 50, rowsOfPage);
  const isReversed = (query.order === 'DESC') !== isSwapped;
  const tie = ({ assessment: { id } }: HostRecord) => (isReversed ? -id : id);
  const records = new RowsByDay(rows.map(recordOf));
  const list = answer(records, { ...query, page }, { userName: 'name', tie });
  const shown = list.assessments.map(({ email, certified_on }) => `${email} ${certified_on}`);
  return { answer: list, content: `${list.meta.count} ${shown}` };
}

function singleIn({ rows }: World, id: number): WorldAnswer {
  const row = rows.find((one) => one.id === id);
  return {
    answer: row && recordOf(row).assessment,
    content: row ? `${row.version} ${row.day}` : '',
  };
}

/** The version of a sighted record. */
export function versionOf({ id, email }: Assessment): number {
  return Number(email?.slice(`${id}-`.length, email.indexOf('@')));
}
