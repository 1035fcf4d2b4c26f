/** A part of which some methods and values are replaced. @param heard called with each name asked for */
export function replacedIn<Whole extends object>(
  whole: Whole,
  replacement: object,
  heard: (name: string | symbol) => unknown = () => undefined,
): Whole {
  return new Proxy(whole, {
    get: (target, name) => {
      heard(name);
      const method: unknown = Reflect.get(replacement, name) ?? Reflect.get(target, name);
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}

/** Reads of a ledger that come page by page. */
export const pagewise: ReadonlySet<string> = new Set(['leftovers', 'waitingForOps']);

/** All other calls of a ledger write. */
export const ledgerReads: ReadonlySet<string> = new Set([
  ...pagewise,
  ...['state', 'recordedState', 'known', 'lives', 'knownOfDay', 'calendar', 'countWaitingForOps'],
]);

/** A value for which no request is sent. */
export const isNothing = (value: unknown) =>
  (Array.isArray(value) && value.length === 0) || (value instanceof Map && value.size === 0);
