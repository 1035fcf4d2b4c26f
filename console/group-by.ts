/** As the grouping of a Map that came later: the oldest Node that the package names does not have it. */
export function groupBy<Key, Value>(
  all: readonly Value[],
  keyOf: (one: Value) => Key,
): ReadonlyMap<Key, readonly Value[]> {
  const found = new Map<Key, Value[]>();
  for (const one of all) {
    const key = keyOf(one);
    const some = found.get(key);
    if (some === undefined) found.set(key, [one]);
    else some.push(one);
  }
  return found;
}
