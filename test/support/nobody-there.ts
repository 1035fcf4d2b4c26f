/**
 * An origin that refuses connections. Not a port that was free a moment ago, which may be another
 * test's by now: the system gives out none of this range.
 */
export const nobodyThere = 'http://127.0.0.1:1';
