import { isDeepStrictEqual } from 'node:util';
import type { Temporal } from 'temporal-polyfill';
import { isUntold } from '../decisions/conditions.ts';
import { recentWindow } from '../decisions/days.ts';
import { isDigestDue } from '../decisions/digest-schedule.ts';
import { digestOf } from '../decisions/fingerprint.ts';
import { isGateDue } from '../decisions/gate.ts';
import { isPulseOutdated } from '../decisions/locate.ts';
import { backOffAfter, isBackingOff, remembered, unhurried } from '../decisions/pace.ts';
import type { PulseRead } from '../decisions/partner-reads.ts';
import { noLease, type State, type StateChanges } from '../decisions/state.ts';
import { judged, mendedBy } from '../decisions/stored-times.ts';
import { isRefusal, NotifierError, reachOf } from '../errors.ts';
import { CredentialsNotSetError } from '../partner/secret.ts';
import { readBaseline } from './baseline.ts';
import { activityOf, conclude, tellOps, unreported } from './conclude.ts';
import { inherit, tellPeople } from './deliver.ts';
import { type Done, fold, leaseLost, nothingDone, stateOf } from './done.ts';
import { askPulse } from './page.ts';
import type { Effort, Outcome, Step, TickParts } from './parts.ts';
import { reportOf, type TickReport } from './report.ts';
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
 * the digest goes out, ops are told, and the state is written last (conclude), but for the pace.
 *
 * The order of its writes, and the cost of a death after each: docs/decisions/0038. A withdrawal takes
 * two looks (looks.ts). How far an error of the partner reaches: partner/errors.ts.
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
        if (fact?.is === 'warned') journal.warn(fact.what, fact.details);
      } catch (error) {
        // The step ends everything that it has under way.
        await step.throw(error);
        throw error;
      }
    }
  };
  const reported = (outcome: Outcome) => reportOf(settings.name, done, outcome, effort());
  // It asks the partner for nothing, so it has learned no pace to save.
  if (before.paused) {
    await follow(tellOps(parts));
    return reported('paused');
  }
  try {
    const outcome = await follow(story(parts, run.id));
    await follow(conclude(parts, outcome, effort));
    return reported(outcome);
  } catch (error) {
    const outcome = await follow(failed(parts, error, effort));
    if (outcome === 'failed') throw error;
    const isCause = outcome === 'disturbed' && error instanceof NotifierError;
    return { ...reported(outcome), ...(isCause && { failure: error }) };
  } finally {
    await keepPace(parts, stored);
  }
}

/** From the state to the point where nothing is left to do, or no time, or no right to. */
async function* story(parts: TickParts, owner: string): Step<Outcome> {
  const { clock, settings, ledger } = parts;
  const { before } = yield;
  const isLeftAlone = isBackingOff(before, clock.now());
  const isOwing =
    before.dirtySince !== undefined || isDigestDue(before.digest, clock.now(), settings);
  // Owed events go out even while the tick backs off from the partner.
  const isAtWork = isOwing || (!isLeftAlone && before.baseline.status !== 'completed');
  if (isAtWork) yield* takeLease(parts, owner);
  if (isLeftAlone) return 'backing-off';
  const { leased: early, time } = yield;
  if (isAtWork && !early) return 'busy';
  if (time.isCutShort) return 'completed';
  const first = yield* askPulse(parts);
  if (stateOf(yield).backOff !== undefined) await ledger.saveState({ backOff: undefined });
  const answered = yield { is: 'answered' };
  if (isQuiet(answered, first, clock.now().epochMilliseconds)) return 'completed';
  return yield* work(parts, first, owner);
}

/** Works under the lease, with a pulse that no other tick has outdated. */
async function* work(parts: TickParts, first: PulseRead, owner: string): Step<Outcome> {
  const { before, leased: early } = yield;
  if (!early) yield* takeLease(parts, owner);
  const { leased } = yield;
  if (!leased) return 'busy';
  const isOutdated = !early && isPulseOutdated(before, leased.state);
  const pulse = isOutdated ? yield* askPulse(parts) : first;
  const isBaseline = leased.state.baseline.status !== 'completed';
  yield* (isBaseline ? readBaseline : lookAtPage)({ ...parts, ...leased }, pulse);
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
async function* takeLease(parts: TickParts, owner: string): Step {
  const { ledger, clock, settings } = parts;
  const lease = leaseOf(owner, (yield).time);
  const taken = await ledger.takeLease(lease, clock.now());
  if (taken === undefined) return;
  const state = judged(taken, clock.now().epochMilliseconds, settings);
  const window = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
  yield { is: 'leased', lease, state, window };
  const mended = mendedBy(taken, state);
  if (mended && !(await ledger.saveState(mended, lease))) yield { is: 'lease-lost' };
  else yield* inherit({ ...parts, lease, state, window });
}

/**
 * Ends a tick that something blocks. The next tick cleans up, so `dirtySince` and everything that
 * was not learned to its end stay as they are on record.
 *
 * @returns the outcome that names the reason; `failed` where none does
 */
async function* failed(
  parts: TickParts,
  error: unknown,
  effort: () => Effort,
): Step<Outcome | 'failed'> {
  const { clock } = parts;
  // The pace had no room even for the pulse. Owed events are out, and the next tick does the rest.
  if (reachOf(error) === 'pace') {
    yield { is: 'cut-off' };
    yield* conclude(parts, 'backing-off', effort);
    return 'backing-off';
  }
  const { leased, before } = yield;
  if (error instanceof NotifierError && error.code === 'lease-lost') {
    yield leaseLost(leased?.lease);
    return 'busy';
  }
  yield { is: 'failed', error };
  const isTold = yield* attempt('conditions not told', tellOps(parts));
  // Ops are not told yet, which counts only if the state has it.
  const { blocked, open, delivery } = yield;
  const isPassing = isTold && blocked?.name !== undefined && isUntold(open.get(blocked.name));
  // The digest of delivered events goes out now; otherwise it waits for the next tick.
  if (leased && delivery.isInherited)
    yield* attempt('digest not sent', tellPeople({ ...parts, ...leased }));
  // A deployment that still waits for its credentials is no failure; one that has lost them is.
  const isNew = error instanceof CredentialsNotSetError && before.heartbeat === undefined;
  const activity = activityOf(yield, effort(), isNew ? 'completed' : 'failed', clock.now());
  const isRefused = isRefusal(error) && !isPassing;
  yield* attempt('failure not noted', noted(parts, activity, isRefused));
  if (isNew) return 'no-credentials';
  return isPassing ? 'disturbed' : 'failed';
}

/**
 * For the next tick, unless another one has the lease by now. It gives the lease back, so that the
 * next tick need not wait for its end.
 */
async function* noted(
  { ledger, clock }: TickParts,
  activity: StateChanges['activity'],
  isRefused: boolean,
): Step {
  const { before, denial, leased } = yield;
  const known = {
    activity,
    ...(isRefused && { backOff: backOffAfter(before.backOff, clock.now()) }),
    ...(denial && { denial }),
    ...(leased && noLease),
  };
  await ledger.saveState(known, leased?.lease);
}

/** A last step of a failed tick. Its failure is only logged: it must not hide how the tick ended. */
async function* attempt(whatFails: string, step: Step): Step<boolean> {
  try {
    yield* step;
    return true;
  } catch (error) {
    yield { is: 'warned', what: whatFails, details: { error } };
    return false;
  }
}

/**
 * Saves the learned pace, however the work of a tick has ended: without it, the next tick would only
 * be refused again.
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
