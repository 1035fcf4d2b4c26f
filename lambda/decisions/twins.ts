import * as z from 'zod/mini';
import type { Assessment } from '../events/assessment.ts';
import { fingerprintOf } from './fingerprint.ts';

/**
 * Limit, since each tick at work reads and writes them all. Rows of further ids are told apart only
 * within one read.
 */
const mostTwins = 300;
/** Limit for the days of one of them, those of its latest sightings. */
const mostDays = 20;

const twin = z.readonly(
  z.object({
    id: z.int(),
    /** The days of its rows, that of the latest sighting last. */
    days: z.readonly(z.array(z.iso.date())),
    /**
     * One page showed both rows, or a second read did, or reads show them in turn. Once, an edit amid
     * a read looks the same, and so does a move amid a first reading.
     */
    isSure: z.exactOptional(z.literal(true)),
  }),
);

/** The ids under which the partner shows rows of different content: nobody can tell which is right. */
export const twins = z.readonly(z.array(twin));

export type Twins = z.output<typeof twins>;

/** An id whose row is as it was before its last changes, and the days of both. */
export type Returned = Twins[number] & { readonly isSure: true };

/** The twins with these, each of one id: those that reads show in turn are sure. */
export function withSeen(known: Twins, seen: Twins): Twins {
  if (seen.length === 0) return known;
  const now = seen.map((one) => {
    const before = known.find(({ id }) => id === one.id);
    return { ...before, ...one, days: latest([...(before?.days ?? []), ...one.days]) };
  });
  const ids = new Set(seen.map(({ id }) => id));
  return [...known.filter(({ id }) => !ids.has(id)), ...now].slice(-mostTwins);
}

/** Each day once, where it is the latest. */
const latest = (days: readonly string[]) =>
  [...new Set(days.toReversed())].slice(0, mostDays).reverse();

/** The rows of one read, of one page or several. */
export interface Shown {
  /** Rows of one page may have the same id. */
  readonly assessments: readonly Assessment[];
  /** Other versions of these, on other pages of the read. */
  readonly others?: readonly Assessment[];
}

/** The ids of which a read shows different content. */
export function twinsIn({ assessments, others = [] }: Shown, salt: string): ReadonlySet<number> {
  const rows = [...assessments, ...others];
  const ids = new Set(rows.map(({ id }) => id));
  if (ids.size === rows.length) return new Set();
  const versions = new Set(rows.map((row) => `${row.id}/${fingerprintOf(row, salt).whole}`));
  if (versions.size === ids.size) return new Set();
  const several = Map.groupBy(versions, (version) => version.split('/')[0]);
  return new Set([...several].flatMap(([id, all]) => (all.length > 1 ? Number(id) : [])));
}

/**
 * The twins after a read. One ends when whole reads of all days of its rows show one version. If a
 * read shows it elsewhere than the latest one, it is surely there twice.
 *
 * @param isWhole whether the read has shown every row of a day: of one that is sure, with a proof
 */
export function twinsAfter(
  known: Twins,
  shown: Shown,
  isWhole: (day: string, isSure: boolean) => boolean,
  salt: string,
): Twins {
  const now = twinsIn(shown, salt);
  if (known.length + now.size === 0) return known;
  const onOnePage = twinsIn({ assessments: shown.assessments }, salt);
  const rows = Map.groupBy([...(shown.others ?? []), ...shown.assessments], ({ id }) => id);
  const daysOf = (id: number) => (rows.get(id) ?? []).map(({ certified_on }) => certified_on);
  const left = known.flatMap((before): Twins => {
    const { id } = before;
    const here = daysOf(id);
    const isElsewhere = here.some((day) => day !== before.days.at(-1));
    const isSure = before.isSure === true || now.has(id) || isElsewhere;
    const isSeen = (day: string) => !now.has(id) && isWhole(day, isSure);
    const elsewhere = before.days.filter((day) => here.includes(day) || !isSeen(day));
    const days = latest([...elsewhere, ...here]);
    return days.every(isSeen) ? [] : [{ id, days, ...(isSure && ({ isSure: true } as const)) }];
  });
  const fresh = [...now].filter((id) => !known.some((one) => one.id === id));
  const added = fresh.map((id) => ({
    id,
    days: latest(daysOf(id)),
    ...(onOnePage.has(id) && ({ isSure: true } as const)),
  }));
  return [...left, ...added].slice(-mostTwins);
}

/**
 * The rows that the host has: those of its other pages only where an id is surely there twice. Else
 * an edit amid a read would count twice, and hide an arrival from the total.
 */
export function rowsOf({ assessments, others = [] }: Shown, known: Twins): readonly Assessment[] {
  const sure = new Set(known.filter(({ isSure }) => isSure).map(({ id }) => id));
  return [...assessments, ...others.filter(({ id }) => sure.has(id))];
}

/** The row whose canonical JSON is the smallest, in any order of the rows. */
export function smallestOf(rows: readonly Assessment[]): Assessment | undefined {
  const texts = rows.map((row) => ({ row, text: canonical(row) }));
  return texts.sort((a, b) => (a.text < b.text ? -1 : 1)).at(0)?.row;
}

/** The order of keys does not count. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
