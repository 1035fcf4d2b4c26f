import { createHash } from 'node:crypto';
import { quarantineSeen } from '../detection/observed.ts';
import type { QuarantinedRecord } from '../ports/partner-reader.ts';
import type { State } from '../ports/state.ts';
import type { TickParts } from './parts.ts';

/** A record that stays malformed is reported once; beyond so many, they are only counted. */
const reportedKept = 50;

/** The malformed records that a tick meets: each is told of once, however often it is met again. */
export class Quarantine {
  readonly #journal: TickParts['journal'];
  readonly #records = new Map<string, QuarantinedRecord>();

  constructor(journal: TickParts['journal']) {
    this.#journal = journal;
  }

  add(records: readonly QuarantinedRecord[]): void {
    for (const record of records) this.#records.set(nameOf(record), record);
  }

  /** Whether this tick has met it, or an earlier one has told of it. */
  has(id: number, { reported }: State): boolean {
    return this.#records.has(String(id)) || reported.includes(String(id));
  }

  /** Different ones, in this tick. */
  get size(): number {
    return this.#records.size;
  }

  /** Those that no tick has told of yet. */
  unreported({ reported }: State): [name: string, record: QuarantinedRecord][] {
    return [...this.#records]
      .filter(([name]) => !reported.includes(name))
      .slice(0, reportedKept - reported.length);
  }

  /** @returns the names of all that were told of, with these; undefined when there is no news */
  report(state: State) {
    const unreported = this.unreported(state);
    if (unreported.length === 0) return undefined;
    for (const [, { id, problems }] of unreported)
      this.#journal.warn('record quarantined', { id, problems });
    const reported = [...state.reported, ...unreported.map(([name]) => name)];
    const records = unreported.map(([, record]) => record);
    return { reported, seen: quarantineSeen(records, reported.length) };
  }
}

/** Short, because the state is written by every tick. */
function nameOf({ id, problems }: QuarantinedRecord): string {
  return id === undefined
    ? createHash('sha256').update(problems.join(';')).digest('base64url').slice(0, 6)
    : String(id);
}
