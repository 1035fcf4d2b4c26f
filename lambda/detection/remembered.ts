/** Values by key, of which only the latest are kept: a value that is asked for becomes the latest. */
export function remembered<Value>(limit: number): (key: string, make: () => Value) => Value {
  const values = new Map<string, Value>();
  return (key, make) => {
    const value = values.get(key) ?? make();
    // In the order in which they were set.
    values.delete(key);
    values.set(key, value);
    const [oldest] = values.size > limit ? values.keys() : [];
    if (oldest !== undefined) values.delete(oldest);
    return value;
  };
}
