/** Adds numbers by key; a key that only one side has counts as well. */
export function added<Counts extends Readonly<Record<string, number>>>(
  all: Counts | undefined,
  one: Counts,
): Counts {
  if (all === undefined) return one;
  const sums = Object.entries(one).map(([name, number]) => [name, number + (all[name] ?? 0)]);
  return { ...all, ...one, ...Object.fromEntries(sums) };
}
