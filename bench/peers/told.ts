import type { Heard } from '../subscriber.ts';

/** A row as a peer's sync leaves it at its destination. */
export interface PeerRow {
  readonly id: number;
  /** The digest of all fields. */
  readonly digest: string;
}

/** The rows that a consumer knows, by id, with their digests. */
export type Known = Map<number, string>;

/**
 * The news of one sync to a consumer of a peer: new rows, changed rows and, where the sync replaces all rows, rows that
 * are gone. Repeated news has the same id.
 */
export function learned(known: Known, rows: readonly PeerRow[], isAll: boolean): Heard[] {
  const heard: Heard[] = [];
  const tell = (what: string, id: number, digest: string) =>
    heard.push({ id: `${id}/${what}/${digest}`, type: `certification.${what}`, subject: `${id}` });
  for (const { id, digest } of rows) {
    const before = known.get(id);
    if (before === undefined) tell('created', id, digest);
    else if (before !== digest) tell('updated', id, digest);
    known.set(id, digest);
  }
  if (!isAll) return heard;
  const all = new Set(rows.map(({ id }) => id));
  for (const [id, digest] of known)
    if (!all.has(id)) {
      tell('withdrawn', id, digest);
      known.delete(id);
    }
  return heard;
}
