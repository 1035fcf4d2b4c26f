import { isDeepStrictEqual } from 'node:util';
import pMap from 'p-map';
import type { Temporal } from 'temporal-polyfill';
import type { Change, Found, Sighting } from '../decisions/compare.ts';
import { foretoldAfter, judge, stillHolding } from '../decisions/gate.ts';
import { errorOf, faultOf, NotifierError } from '../errors.ts';
import { type CertificationEvent, certificationEvent } from '../events/event.ts';
import type { Committed } from '../ports/ledger.ts';
import { writeEach } from '../write-each.ts';
import { deliver } from './deliver.ts';
import { leaseLost } from './done.ts';
import type { LeasedParts, Step } from './parts.ts';
import { tellFlood } from './tell.ts';

/** A batch is committed and delivered as a whole; a tick can stop only between batches. */
const changesTogether = 500;
const commitConcurrency = 16;

/**
 * SNS refused the notice of a flood. Nothing is held without ops knowing, so the changes stay
 * uncommitted.
 */
export class FloodNotToldError extends errorOf('flood-not-told', 'aws', 'retry-helps') {
  readonly whatToDo =
    'Nothing, if the next tick succeeds. Otherwise find "notice refused" in the log, and check the operations topic, its key and the role of this function.';

  constructor() {
    super('Changes were not committed: SNS refused the notice that they would be held.');
  }
}

/**
 * Commits changes, each with its event. Delivers the events, or holds those that are part of a
 * flood.
 *
 * @param found how the changes were found; stored with the revisions, for `explain`
 * @returns the changes that this tick committed; the others failed, were committed by another tick,
 * or wait because time ran out
 */
export async function* announce(
  at: LeasedParts,
  changes: readonly Change[],
  found: Found,
): Step<readonly Change[]> {
  const { ledger, clock } = at;
  const days = changes.flatMap((change) =>
    change.kind === 'withdrawn' ? [] : change.assessment.certified_on,
  );
  if (days.length > 0) await ledger.touch(days);
  const all = changes.map((change) => ({ ...change, found }));
  const committed: Change[] = [];
  for (let start = 0; start < all.length; start += changesTogether) {
    if ((yield { is: 'boundary' }).time.isCutShort) break;
    const began = clock.now().epochMilliseconds;
    const rest = all.slice(start + changesTogether);
    committed.push(...(yield* passed(at, all.slice(start, start + changesTogether), rest)));
    yield { is: 'took', ms: clock.now().epochMilliseconds - began };
  }
  return committed;
}

/** Records the baseline's sightings without announcing them. */
export async function* record(at: LeasedParts, sightings: readonly Sighting[]): Step {
  if (sightings.length === 0) return;
  const { ledger, clock, lease } = at;
  await ledger.touch(sightings.map(({ assessment }) => assessment.certified_on));
  const number = await ledger.recordSilently(sightings, clock.now(), lease);
  yield { is: 'recorded', number };
}

/**
 * At the end of a tick that has looked at the total: changes that were held for the total alone may
 * leave. They are decided before the state's end forgets them. A crash in between repeats that,
 * which changes nothing.
 *
 * @param agrees the pulse's total equals the calendar's sum
 */
export async function* releaseForetold(at: LeasedParts, agrees: boolean): Step {
  const { ledger, settings, clock, lease, state } = at;
  const now = clock.now();
  // An earlier tick has not come to its end.
  const isInterrupted = state.dirtySince !== undefined;
  const { gate } = yield;
  const { memory, leaving, look } = foretoldAfter(
    gate,
    { agrees, isInterrupted },
    settings.withdrawAfterMs,
    now.epochMilliseconds,
  );
  // Only the holder of the lease knows that no other tick has seen another total.
  if (leaving.length > 0 && !(await ledger.saveState({ gate }, lease))) return;
  await writeEach(leaving, ({ id, revision }) =>
    ledger.decide(id, 'held', 'released', (event) => event.revision === revision, now),
  );
  yield { is: 'released', released: leaving.length, gate: memory, gateLook: { at: look } };
}

/**
 * The gate's memory is written before anything that it allows, so a crash cannot reset it. Held
 * changes are committed only once SNS has accepted their notice; else the next tick finds them
 * again.
 */
async function* passed(
  at: LeasedParts,
  batch: readonly Change[],
  rest: readonly Change[],
): Step<readonly Change[]> {
  const { settings, clock, ledger, lease } = at;
  const { holdAbove, audit } = settings;
  const time = clock.now();
  const nowMs = time.epochMilliseconds;
  const { gate: before, outlook, reserved } = yield;
  const limits = { holdAbove, roundMs: audit.historyMs };
  const judgement = judge(before, batch, { ...outlook, rest }, limits, nowMs);
  const { memory: gate, held, mayLeave, free } = judgement;
  if (!isDeepStrictEqual(gate, reserved) && !(await ledger.saveState({ gate }, lease))) {
    // Another tick has the lease and counts now, so this one announces nothing more.
    yield leaseLost(lease);
    yield { is: 'not-committed', number: batch.length, gate };
    return [];
  }
  const news = batch.filter(({ kind }) => kind === 'created' || kind === 'restored').length;
  yield { is: 'reserved', gate, news };
  const until = mayLeave ? 'leave' : stillHolding(gate, holdAbove, nowMs)?.until;
  const isTold = held.length === 0 || (yield* tellFlood(at, held, until));
  if (!isTold) yield { is: 'not-committed', number: held.length, failure: new FloodNotToldError() };
  const kept = isTold ? yield* commitBatch(at, held, 'held', time) : [];
  return [...kept, ...(yield* commitBatch(at, free, 'pending', time))];
}

type Destiny = 'pending' | 'held';

/** How a commit ended. `conflict`: another tick has committed this revision first. */
type CommitEnd = { readonly change: Change } & (
  | { readonly is: 'owed'; readonly owed: Committed }
  | { readonly is: 'undone' | 'conflict' }
  | { readonly is: 'failed'; readonly error: NotifierError }
);

/**
 * Commits a batch. Delivers its events, except held ones and those behind a held event. One record's
 * error never stops the others; the tick fails at its end.
 */
async function* commitBatch(
  at: LeasedParts,
  batch: readonly Change[],
  destiny: Destiny,
  time: Temporal.Instant,
): Step<readonly Change[]> {
  if (batch.length === 0) return [];
  yield { is: 'touched', changes: batch };
  const ends = await pMap(batch, (change) => commit(at, change, destiny, time), {
    concurrency: commitConcurrency,
  });
  const failures = ends.filter((end) => end.is === 'failed');
  for (const { change, error } of failures)
    yield { is: 'warned', what: 'commit failed', details: { certification: change.id, error } };
  const owed = ends.flatMap((end) => (end.is === 'owed' ? end.owed : []));
  const free = owed.filter(({ behind }) => destiny === 'pending' && behind !== 'held');
  const made = ends.filter(({ is }) => is === 'owed' || is === 'undone');
  const changes = made.map(({ change }) => change);
  const failed = failures.map(({ change }) => change);
  yield {
    is: 'committed',
    changes,
    failed,
    conflicts: ends.length - changes.length - failed.length,
    held: owed.length - free.length,
    failure: failures[0]?.error,
  };
  yield* deliver(
    at,
    free,
    failed.map(({ id }) => id),
  );
  return changes;
}

async function commit(
  at: LeasedParts,
  change: Change,
  destiny: Destiny,
  time: Temporal.Instant,
  isBrief = false,
): Promise<CommitEnd> {
  try {
    const event = eventOf(at, change, time, isBrief);
    const owed = await at.ledger.commit(change, event, time, destiny);
    if (owed === undefined) return { change, is: 'conflict' };
    return owed === 'undone' ? { change, is: 'undone' } : { change, is: 'owed', owed };
  } catch (error) {
    // The item holds so many events already that only a brief one fits.
    if (!isBrief && faultOf(error) === 'record') return commit(at, change, destiny, time, true);
    if (!(error instanceof NotifierError)) throw error;
    return { change, is: 'failed', error };
  }
}

function eventOf(
  { settings, window }: LeasedParts,
  change: Change,
  time: Temporal.Instant,
  brief: boolean,
): CertificationEvent {
  const { name: integration, fields } = settings;
  const { id, kind, revision } = change;
  const assessment =
    change.kind === 'withdrawn'
      ? { ...change.before, id, certified_on: change.before.day }
      : change.assessment;
  return certificationEvent({
    ...{ integration, revision, time, assessment, fields, brief },
    type: `certification.${kind}`,
    changed: change.kind === 'withdrawn' ? [] : change.changed,
    late: assessment.certified_on < window.from,
  });
}
