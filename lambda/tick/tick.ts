import { isDeepStrictEqual } from 'node:util';
import type { Temporal } from 'temporal-polyfill';
import { isUntold } from '../decisions/conditions.ts';
import { recentWindow } from '../decisions/days.ts';
import { isDigestDue } from '../decisions/digest-schedule.ts';
import { digestOf } from '../decisions/fingerprint.ts';
import { isGateDue } from '../decisions/gate.ts';
import { isPulseOutdated } from '../decisions/locate.ts';
import { backOffAfter, isBackingOff, remembered, unhurried } from '../decisions/pace.ts';
import { judged, mendedBy } from '../decisions/stored-times.ts';
import { isRefusal, NotifierError, reachOf } from '../errors.ts';
import { CredentialsNotSetError } from '../partner/secret.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import { noLease, type State, type StateChanges } from '../ports/state.ts';
import { readBaseline } from './baseline.ts';
import { activityOf, conclude, tellOps, unreported } from './conclude.ts';
import { inherit, tellPeople } from './deliver.ts';
import { type Done, fold, nothingDone, stateOf } from './done.ts';
import { askPulse } from './page.ts';
import type { Effort, Step, TickParts } from './parts.ts';
import { type Outcome, reportOf, type TickReport } from './report.ts';
import { leftOf, lookAtPage } from './search.ts';
import { leaseOf, timeUntil } from './time.ts';

export interface TickRun {
  /** Unique; becomes the owner of the lease. */
  readonly id: string;
  /** When the invocation is killed. */
  readonly deadline: Temporal.Instant;
}

/**
 * One scheduled run for one integration.
 *
 * A quiet tick has a pulse and a heartbeat, and takes the lease only if events are owed. Any other
 * tick takes the lease, delivers owed events, compares the page, and searches for changes that the
 * page does not show. Then it reads the days that are due: each is compared, passed through the
 * gate, committed and delivered (perform). The baseline reads its days in the same loop. At the end
 * the digest goes out, ops are told, and the state is written last (conclude).
 *
 * This function alone has the tick's state: `done`, the fold of the facts that the steps hand back.
 *
 * @throws NotifierError if the rest of the tick would make no sense (credentials, partner or ledger
 * unavailable). Everything committed before stays, and `dirtySince` stays if need be.
 */
export async function tick(parts: TickParts, run: TickRun): Promise<TickReport> {
  const { ledger, clock, settings, partner, journal } = parts;
  const effort = parts.measure();
  const stored = await ledger.state();
  const nowMs = clock.now().epochMilliseconds;
  const before = judged(stored, nowMs, settings);
  partner.pace.value = before.pace ?? unhurried;
  let done = nothingDone(before, timeUntil(run.deadline), nowMs);
  const follow = async <End>(step: Step<End>): Promise<End> => {
    for (let next = await step.next(done); ; next = await step.next(done)) {
      if (next.done) return next.value;
      const fact = next.value;
      try {
        done = fold(done, fact, clock.now());
        if (fact.is === 'warned') journal.warn(fact.what, fact.details);
      } catch (error) {
        // The step ends everything that it has under way.
        await step.throw(error);
        throw error;
      }
    }
  };
  const reported = (outcome: Outcome, failure = done.failure) => ({
    ...reportOf(settings.name, done, outcome, effort()),
    failure,
  });
  if (before.paused) {
    await follow(tellOps(parts, done));
    return reported('paused');
  }
  try {
    const outcome = await follow(story(parts, done, run.id));
    await follow(conclude(parts, done, outcome, effort));
    return reported(outcome);
  } catch (error) {
    const outcome = await follow(failed(parts, done, error, effort));
    if (outcome === 'failed') throw error;
    return outcome === 'disturbed' && error instanceof NotifierError
      ? reported(outcome, error)
      : reported(outcome);
  } finally {
    await keepPace(parts, stored);
  }
}

/** From the state to the point where nothing is left to do, or no time, or no right to. */
async function* story(parts: TickParts, found: Done, owner: string): Step<Outcome> {
  const { clock, settings, ledger } = parts;
  const { before } = found;
  const isLeftAlone = isBackingOff(before, clock.now());
  const isOwing =
    before.dirtySince !== undefined || isDigestDue(before.digest, clock.now(), settings);
  // Owed events go out even while the tick backs off from the partner.
  const isAtWork = isOwing || (!isLeftAlone && before.baseline.status !== 'completed');
  const begun = isAtWork ? yield* takeLease(parts, found, owner) : found;
  if (isLeftAlone) return 'backing-off';
  if (isAtWork && !begun.leased) return 'busy';
  if (begun.time.isCutShort) return 'completed';
  const [asked, pulse] = yield* askPulse(parts, begun);
  if (stateOf(asked).backOff !== undefined) await ledger.saveState({ backOff: undefined });
  const done = yield { is: 'answered' };
  if (isQuiet(done, pulse, clock.now().epochMilliseconds)) return 'completed';
  return yield* work(parts, done, pulse, owner);
}

/** Works under the lease, with a pulse that no other tick has outdated. */
async function* work(
  parts: TickParts,
  found: Done,
  first: PulseRead,
  owner: string,
): Step<Outcome> {
  const done = found.leased ? found : yield* takeLease(parts, found, owner);
  const { leased } = done;
  if (!leased) return 'busy';
  const isOutdated = !found.leased && isPulseOutdated(found.before, leased.state);
  const [now, pulse] = isOutdated ? yield* askPulse(parts, done) : [done, first];
  const at = { ...parts, ...leased };
  const isBaseline = leased.state.baseline.status !== 'completed';
  yield* isBaseline ? readBaseline(at, now, pulse) : lookAtPage(at, now, pulse);
  return isBaseline ? 'baseline' : 'completed';
}

/**
 * Nothing is left from the last search, the pulse shows no change, no day is due, and there is
 * nothing to report.
 */
function isQuiet(done: Done, pulse: PulseRead, nowMs: number): boolean {
  const state = stateOf(done);
  const { toFind, toRead } = leftOf(state, nowMs);
  return (
    state.baseline.status === 'completed' &&
    !toFind &&
    pulse.count === state.expected + state.unexplained &&
    digestOf(pulse, state.salt) === state.pulseDigest &&
    !toRead &&
    !isGateDue(state.gateLook, pulse.count === state.expected, nowMs) &&
    unreported(done).length === 0
  );
}

/** Takes the lease, and with it the duty to deliver events that earlier ticks left. */
async function* takeLease(parts: TickParts, found: Done, owner: string): Step {
  const { ledger, clock, settings } = parts;
  const lease = leaseOf(owner, found.time);
  const taken = await ledger.takeLease(lease, clock.now());
  if (taken === undefined) return found;
  const state = judged(taken, clock.now().epochMilliseconds, settings);
  const window = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
  yield { is: 'leased', lease, state, window };
  const mended = mendedBy(taken, state);
  if (mended && !(await ledger.saveState(mended, lease))) return yield { is: 'lease-lost' };
  return yield* inherit({ ...parts, lease, state, window });
}

/**
 * Ends a tick that something blocks. The next tick cleans up, so `dirtySince` and everything that
 * was not learned to its end stay as they are on record.
 *
 * @returns `failed`, unless the only remedy is to wait
 */
async function* failed(
  parts: TickParts,
  found: Done,
  error: unknown,
  effort: () => Effort,
): Step<Outcome | 'failed'> {
  const { clock } = parts;
  // The pace had no room even for the pulse. Owed events are out, and the next tick does the rest.
  if (reachOf(error) === 'pace') {
    yield* conclude(parts, yield { is: 'cut-off' }, 'backing-off', effort);
    return 'backing-off';
  }
  if (error instanceof NotifierError && error.code === 'lease-lost') {
    yield { is: 'warned', what: 'lease lost', details: { owner: found.leased?.lease.owner } };
    return 'busy';
  }
  const begun = yield { is: 'failed', error };
  const told = yield* attempt('conditions not told', tellOps(parts, begun));
  // Ops are not told yet, which counts only if the state has it.
  const name = told.done.blocked?.name;
  const isPassing = told.isDone && name !== undefined && isUntold(told.done.open.get(name));
  const { leased, delivery } = told.done;
  // The digest of delivered events goes out now; otherwise it waits for the next tick.
  const mailed =
    leased && delivery.isInherited
      ? yield* attempt('digest not sent', tellPeople({ ...parts, ...leased }, told.done))
      : told;
  // A deployment that still waits for its credentials is no failure; one that has lost them is.
  const isNew = error instanceof CredentialsNotSetError && found.before.heartbeat === undefined;
  const isRefused = isRefusal(error) && !isPassing;
  const activity = activityOf(mailed.done, effort(), isNew ? 'completed' : 'failed', clock.now());
  yield* noteFailure(parts, mailed.done, activity, isRefused);
  if (isNew) return 'no-credentials';
  return isPassing && error instanceof NotifierError ? 'disturbed' : 'failed';
}

/**
 * For the next tick, unless another one has the lease by now. It gives the lease back, so that the
 * next tick need not wait for its end.
 */
async function* noteFailure(
  { clock, ledger }: TickParts,
  done: Done,
  activity: StateChanges['activity'],
  isRefused: boolean,
): Step {
  const { before, denial, leased } = done;
  const known = {
    activity,
    ...(isRefused && { backOff: backOffAfter(before.backOff, clock.now()) }),
    ...(denial && { denial }),
    ...(leased && noLease),
  };
  try {
    await ledger.saveState(known, leased?.lease);
    return done;
  } catch (error) {
    return yield { is: 'warned', what: 'failure not noted', details: { error } };
  }
}

/** A last step of a failed tick. Its failure is only logged: it must not hide how the tick ended. */
async function* attempt(
  whatFails: string,
  step: Step,
): Step<{ readonly done: Done; readonly isDone: boolean }> {
  try {
    return { done: yield* step, isDone: true };
  } catch (error) {
    return { done: yield { is: 'warned', what: whatFails, details: { error } }, isDone: false };
  }
}

/**
 * Saves the learned pace, however the tick ended: without it, the next tick would only be refused
 * again.
 *
 * @param before as it was stored, so that judged times are saved, too
 */
async function keepPace({ ledger, partner, clock, journal }: TickParts, before: State) {
  const { value, perMinute } = partner.pace;
  const pace = remembered(value, perMinute, clock.now().epochMilliseconds);
  if (isDeepStrictEqual(pace, before.pace)) return;
  try {
    await ledger.saveState({ pace });
  } catch (error) {
    journal.warn('pace not saved', { error });
  }
}
