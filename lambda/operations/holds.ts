import { Temporal } from 'temporal-polyfill';
import type { KeptEvent } from '../ports/ledger.ts';
import type { ResultOf } from './contract.ts';
import { StalledError } from './errors.ts';
import { isSelected, kindOf, yearOf } from './kept.ts';
import type { Carrier } from './parts.ts';
import { emptyTally } from './tally.ts';

/** Events that one answer names: some 100 bytes each, and an answer has 6 MB at most. */
const listedAtOnce = 1_000;

/** What waits for ops, counted by kind, organization and year, and listed if asked. Nothing personal. */
export const holds: Carrier<'holds'> = async ({ clock, opsLedger }, command, { limit }) => {
  const at = clock.now().toString();
  const tally = new KeptTally();
  const list: Listed[] = [];
  let cursor = command.after;
  let isStopped = false;
  for await (const page of opsLedger.kept(command.waiting, command.after)) {
    const selected = page.owed.filter((event) => isSelected(event, command));
    for (const event of selected) tally.add(event);
    if (command.list) list.push(...selected.map(listed));
    tally.unreadable += page.unreadable.length;
    cursor = page.end;
    isStopped = limit.noteIfReached() || list.length >= listedAtOnce;
    if (isStopped) break;
  }
  const result = { at, ...tally.sums, ...(command.list && { list: list.sort(byAge) }) };
  if (!isStopped) return { result };
  const next = { ...command, after: cursor };
  return {
    result: { ...result, next },
    ...(cursor === command.after && { failure: new StalledError() }),
  };
};

type Listed = NonNullable<ResultOf<'holds'>['list']>[number];

function listed(kept: KeptEvent): Listed {
  const { certificationId: id, revision, event, code } = kept;
  const type = kindOf(kept);
  return { id, revision, type, since: event.time, ...(code !== undefined && { code }) };
}

const byAge = (a: Listed, b: Listed) =>
  Temporal.Instant.compare(a.since, b.since) || a.id - b.id || a.revision - b.revision;

class KeptTally {
  #events = 0;
  readonly #certifications = new Set<number>();
  readonly #byType = emptyTally();
  readonly #byOrganization = new Map<number | null, number>();
  readonly #byYear = new Map<number, number>();
  #oldest: string | undefined;
  #newest: string | undefined;
  unreadable = 0;

  add(kept: KeptEvent): void {
    const { time, data } = kept.event;
    this.#events += 1;
    this.#certifications.add(kept.certificationId);
    this.#byType[kindOf(kept)] += 1;
    increase(this.#byOrganization, data.assessment.organization_id);
    increase(this.#byYear, yearOf(kept));
    if (this.#oldest === undefined || isBefore(time, this.#oldest)) this.#oldest = time;
    if (this.#newest === undefined || isBefore(this.#newest, time)) this.#newest = time;
  }

  get sums() {
    return {
      events: this.#events,
      certifications: this.#certifications.size,
      byType: this.#byType,
      byOrganization: [...this.#byOrganization]
        .map(([organization_id, events]) => ({ organization_id, events }))
        .sort(
          (a, b) => b.events - a.events || Number(a.organization_id) - Number(b.organization_id),
        ),
      byYear: [...this.#byYear]
        .map(([year, events]) => ({ year, events }))
        .sort((a, b) => b.year - a.year),
      ...(this.#oldest !== undefined && { oldest: this.#oldest }),
      ...(this.#newest !== undefined && { newest: this.#newest }),
      unreadable: this.unreadable,
    };
  }
}

/** Not as text: fractions of a second have as many digits as they need. */
const isBefore = (a: string, b: string) => Temporal.Instant.compare(a, b) < 0;

function increase<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
