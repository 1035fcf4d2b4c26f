import { Temporal } from 'temporal-polyfill';
import { isWithin, type Part } from './reading.ts';

/**
 * Two parts that hold about as many of the given days each; undefined for a single day.
 *
 * @param days `certified_on` of what has been seen of the part
 */
export function splitByDays(part: Part, days: readonly string[]): readonly Part[] | undefined {
  const { from, to } = part.range;
  if (from && to && Temporal.PlainDate.compare(from, to) >= 0) return undefined;
  const within = days.filter((day) => isWithin(day, part.range)).toSorted();
  const median = within[Math.floor((within.length - 1) / 2)];
  if (median === undefined) return undefined;
  const day = Temporal.PlainDate.from(median);
  const end = to && Temporal.PlainDate.compare(day, to) >= 0 ? day.subtract({ days: 1 }) : day;
  return [
    { ...part, range: { ...part.range, to: end } },
    { ...part, range: { ...part.range, from: end.add({ days: 1 }) } },
  ];
}

/** Parts by what a record either is or is not (partner-api.md, 3); undefined where all is used up. */
export function splitByFlag(part: Part): readonly Part[] | undefined {
  const { filter } = part;
  if (filter.legacy_record === undefined) {
    return [true, false].map((flag) => ({ ...part, filter: { ...filter, legacy_record: [flag] } }));
  }
  if (filter.user_record_status === undefined) {
    const statuses = ['active', 'archived'] as const;
    return statuses.map((status) => ({
      ...part,
      filter: { ...filter, user_record_status: [status] },
    }));
  }
  return undefined;
}

/** One part per organization: all of them only if the ids are all there are. */
export function splitByOrganizations(
  part: Part,
  ids: Iterable<number>,
): readonly Part[] | undefined {
  if (part.filter.organization_ids !== undefined) return undefined;
  return [...new Set(ids)].map((id) => ({
    ...part,
    filter: { ...part.filter, organization_ids: [id] },
  }));
}
