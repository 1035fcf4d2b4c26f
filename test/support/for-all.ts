import fc from 'fast-check';

/** Holds a sentence to any values of these kinds: `forAll(fc.nat(), fc.string(), (n, text) => {})`. */
export function forAll<Values extends [unknown, ...unknown[]]>(
  ...given: [
    ...kinds: { [Nth in keyof Values]: fc.Arbitrary<Values[Nth]> },
    holds: (...values: Values) => void,
  ]
): void {
  fc.assert(fc.property<Values>(...given));
}
