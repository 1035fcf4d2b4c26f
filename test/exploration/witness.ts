import type { Change } from '../../lambda/decisions/compare.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import type { OwedEvent } from '../../lambda/events/owed-event.ts';
import type { MemoryLedger } from '../scaffold/memory-ledger.ts';
import type { Listeners } from './calls.ts';
import { settings, type Told, textOf } from './situation.ts';
import { versionOf, type World } from './world.ts';

/** Collects the sent texts and the commits, and finds violations of conditions that must always hold. */
export class Witness implements Told, Listeners {
  readonly events: Map<string, CertificationEvent>;
  readonly mailed: Set<string>;
  readonly notices: Set<string>;
  readonly committed: Map<number, number>;
  mayRepeat: boolean;
  /** A request of a dead tick has landed. Another tick, which has read before, may send its event again. */
  hasLanded = false;
  readonly findings: string[] = [];
  readonly #ledger: MemoryLedger;

  constructor({ events, mailed, notices, committed, mayRepeat }: Told, ledger: MemoryLedger) {
    this.events = new Map(events);
    this.mailed = new Set(mailed);
    this.notices = new Set(notices);
    this.committed = new Map(committed);
    this.mayRepeat = mayRepeat;
    this.#ledger = ledger;
  }

  digest(ids: readonly string[]): void {
    for (const id of ids) this.mailed.add(id);
  }

  notice(subject: string): void {
    this.notices.add(subject);
  }

  event({ event, certificationId, revision }: OwedEvent): void {
    const before = this.events.get(event.id);
    if (before && textOf(before) !== textOf(event))
      this.findings.push(`two events with the id ${event.id}`);
    const entry = this.#ledger.items.get(certificationId)?.outbox.get(revision);
    const isOwed = entry?.owed.owes === 'event-and-digest';
    if (before && !this.hasLanded && !(this.mayRepeat && isOwed))
      this.findings.push(`${event.id} is told twice`);
    const newest = [...this.events.values()]
      .filter(({ subject }) => subject === event.subject)
      .reduce((most, { sequence }) => Math.max(most, Number(sequence)), 0);
    if (!before && Number(event.sequence) < newest)
      this.findings.push(`${event.id} is told of after revision ${newest}`);
    this.events.set(event.id, event);
  }

  commit(change: Change, world: World, nowMs: number): void {
    const { id } = change;
    if (change.kind === 'withdrawn') {
      const wrong = withdrawalFinding(id, world, nowMs);
      if (wrong !== undefined) this.findings.push(wrong);
      return;
    }
    const version = versionOf(change.assessment);
    if (version < (this.committed.get(id) ?? 0))
      this.findings.push(`an older sight of ${id} was committed over a newer one`);
    this.committed.set(id, version);
  }
}

/** It has been gone for long enough. A replica may have lacked it for a while after it came. */
function withdrawalFinding(
  id: number,
  { rows, gone, backAt }: World,
  nowMs: number,
): string | undefined {
  const { withdrawAfterMs } = settings;
  if (nowMs - (backAt[id] ?? 0) < 2 * withdrawAfterMs) return undefined;
  if (rows.some((row) => row.id === id)) return `false withdrawal of ${id}`;
  const sinceMs = gone.find((row) => row.id === id)?.sinceMs ?? nowMs;
  return nowMs - sinceMs < withdrawAfterMs ? `${id} is withdrawn too soon` : undefined;
}
