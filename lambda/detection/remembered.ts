/**
 * Values by key, of which only the latest are kept: at least `limit`, never more than twice as many.
 * Two generations: when the younger is full, the older is forgotten; a value asked for moves to the
 * younger. So forgetting costs nothing a value, however many distinct keys pass by.
 */
export function remembered<Value>(limit: number): (key: string, make: () => Value) => Value {
  let younger = new Map<string, Value>();
  let older = new Map<string, Value>();
  return (key, make) => {
    const known = younger.get(key);
    if (known !== undefined) return known;
    const value = older.get(key) ?? make();
    if (younger.size >= limit) {
      older = younger;
      younger = new Map();
    }
    younger.set(key, value);
    return value;
  };
}
