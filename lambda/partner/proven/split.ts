import { Temporal } from 'temporal-polyfill';
import { isWithin } from '../../detection/days.ts';
import type { Assessment } from '../../events/assessment.ts';
import type { Part } from './reading.ts';

/** A single day, or none at all. */
export function isDay({ range: { from, to } }: Part): boolean {
  return from !== undefined && to !== undefined && Temporal.PlainDate.compare(from, to) >= 0;
}

/** Part of what its days hold. */
export function isFiltered({ filter }: Part): boolean {
  return Object.keys(filter).length > 0;
}

/**
 * Halves of its days, with about as many assessments each; undefined for a single day.
 *
 * Measured: more parts than halves cost more, since each ends with a page that is half empty. Two that
 * are stuck at the same block again are halved again.
 *
 * @param seen of the part
 */
export function splitByDays(
  part: Part,
  seen: readonly Assessment[],
): readonly [Part, Part] | undefined {
  const { range } = part;
  const days = seen.map(({ certified_on }) => certified_on).toSorted();
  const median = days[Math.floor(days.length / 2)];
  if (isDay(part) || median === undefined) return undefined;
  const day = Temporal.PlainDate.from(median);
  // Neither is to be the whole again, even if all was seen on one day.
  const from = range.from?.equals(day) ? day.add({ days: 1 }) : day;
  if (!isWithin(from.toString(), range)) return undefined;
  return [
    { ...part, range: { ...range, to: from.subtract({ days: 1 }) } },
    { ...part, range: { ...range, from } },
  ];
}

/** Parts by what a record either is or is not (partner-api.md, 3); undefined where all is used up. */
export function splitByFlag(part: Part): readonly Part[] | undefined {
  const by = (filters: readonly Part['filter'][]) =>
    filters.map((filter) => ({ ...part, filter: { ...part.filter, ...filter } }));
  if (part.filter.legacy_record === undefined)
    return by([{ legacy_record: [true] }, { legacy_record: [false] }]);
  if (part.filter.user_record_status === undefined)
    return by([{ user_record_status: ['active'] }, { user_record_status: ['archived'] }]);
  return undefined;
}

/** One part per organization that was seen: all of them only if these are all there are. */
export function splitByOrganizations(
  part: Part,
  seen: readonly Assessment[],
): readonly Part[] | undefined {
  if (part.filter.organization_ids !== undefined) return undefined;
  const ids = new Set(seen.flatMap(({ organization_id }) => organization_id ?? []));
  return [...ids].map((id) => ({ ...part, filter: { ...part.filter, organization_ids: [id] } }));
}
