import { Temporal } from 'temporal-polyfill';
import { isWithin, type Part } from './reading.ts';

/** A single day, or none at all. */
export function isDay({ range: { from, to } }: Part): boolean {
  return from !== undefined && to !== undefined && Temporal.PlainDate.compare(from, to) >= 0;
}

/** Part of what its days hold. */
export function isFiltered({ filter }: Part): boolean {
  return Object.keys(filter).length > 0;
}

/**
 * Parts that hold about as many of the given days each; undefined for a single day.
 *
 * @param days `certified_on` of what has been seen of the part
 */
export function splitByDays(
  part: Part,
  days: readonly string[],
  many: number,
): readonly Part[] | undefined {
  if (isDay(part)) return undefined;
  const within = days.filter((day) => isWithin(day, part.range)).toSorted();
  const parts: Part[] = [];
  let rest = part;
  for (let index = 1; index < many; index++) {
    const quantile = within[Math.floor((within.length * index) / many)];
    if (quantile === undefined) break;
    const day = Temporal.PlainDate.from(quantile);
    // No part is to be the whole again, even if all was seen on one day.
    const isFirst = rest.range.from?.equals(day) ?? false;
    const start = isFirst ? day.add({ days: 1 }) : day;
    if (!isWithin(start.toString(), rest.range)) continue;
    const end = start.subtract({ days: 1 });
    parts.push({ ...rest, range: { ...rest.range, to: end } });
    rest = { ...rest, range: { ...rest.range, from: start } };
  }
  return parts.length > 0 ? [...parts, rest] : undefined;
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
