import { AsyncLocalStorage } from 'node:async_hooks';

/** `decisions/gate.ts judge`: the module below `lambda/`, and the function that it exports. */
type Name = string;

interface InForce {
  readonly replacements: ReadonlyMap<Name, (...args: never) => unknown>;
  /** The functions in whose place a replacement was called. */
  readonly called: { add(name: Name): unknown };
}

const inForce = new AsyncLocalStorage<InForce | undefined>();

/**
 * The function that work under `replacing` gets in place of a module's own. `replaceable-functions.ts` puts it
 * into the module.
 */
export function replaceable(name: Name, real: (...args: never) => unknown) {
  return (...args: never) => {
    const now = inForce.getStore();
    const replacement = now?.replacements.get(name);
    if (replacement === undefined) return real(...args);
    now?.called.add(name);
    // A replacement calls real functions, but not within a generator, whose body runs later.
    return inForce.run(undefined, () => replacement(...args));
  };
}

/** Does some work in which functions are replaced. Other work of the same process is not touched. */
export function replacing<Result>(
  replacements: InForce['replacements'],
  called: InForce['called'],
  work: () => Result,
): Result {
  return inForce.run({ replacements, called }, work);
}
