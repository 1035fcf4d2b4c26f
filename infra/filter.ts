/** What happened to a certification; the last part of the event's `type`. */
export const eventChanges = ['created', 'updated', 'withdrawn', 'restored'] as const;

/** SNS: "the total combination of values in a filter policy must not exceed 150". */
export const maxCombinations = 150;

/** How many combinations SNS counts for a filter: the numbers of its values, multiplied. */
export function combinationsOf(filter: object): number {
  return Object.values(filter).reduce<number>(
    (product, values) => product * (Array.isArray(values) ? values.length : 1),
    1,
  );
}
