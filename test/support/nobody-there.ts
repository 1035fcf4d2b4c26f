/**
 * An origin that refuses connections. A port that was free a moment ago could belong to another
 * test by now. The system assigns no port of this range.
 */
export const nobodyThere = 'http://127.0.0.1:1';
