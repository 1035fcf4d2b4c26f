/** Of a list that is kept: a thousand ids, or days, would not fit into an item or a line. */
const listed = 20;

/** The same value, with the beginnings of its lists only. */
export function brief(value: unknown): unknown {
  if (Array.isArray(value)) {
    const shown = value.slice(0, listed).map(brief);
    return value.length <= listed ? shown : [...shown, `and ${value.length - listed} more`];
  }
  return typeof value === 'object' && value !== null ? briefly(value) : value;
}

/** What is undefined is left out. */
export function briefly(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (one === undefined ? [] : [[name, brief(one)]])),
  );
}
