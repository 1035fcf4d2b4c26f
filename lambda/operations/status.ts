import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import type { DayEntry } from '../detection/calendar.ts';
import { recentWindow } from '../detection/days.ts';
import type { State } from '../ports.ts';
import { conditionWording } from '../steps/condition-notices.ts';
import { problemOf } from './answer.ts';
import { progressOf } from './baseline.ts';
import type { CommandOf } from './command.ts';
import type { ResultOf } from './contract.ts';
import { detectionTimes } from './detection-times.ts';
import type { CommandRecord, Waits } from './ops-ledger.ts';
import type { Call, OperationParts, Outcome } from './parts.ts';
import { pausedBy } from './pause.ts';
import { instant } from './proofs.ts';

type Status = ResultOf<'status'>;

/** After so many periods without a completed tick, the integration is behind; the alarm waits as long. */
const missedTicks = 3;
const unprovenShown = 20;
const noChanges = { created: 0, updated: 0, withdrawn: 0, restored: 0 };

/** All that there is to say about an integration in one screen. Reads only. */
export async function status(
  parts: OperationParts,
  command: CommandOf<'status'>,
  call: Call,
): Promise<Outcome<Status>> {
  const { ledger, opsLedger, settings, clock } = parts;
  const state = await ledger.recordedState();
  const [calendar, waiting, partner, history] = await Promise.all([
    ledger.calendar(state?.years ?? []),
    opsLedger.waiting(),
    command.partner && !state?.paused ? partnerTotal(parts, call) : undefined,
    command.history ? opsLedger.recorded() : undefined,
  ]);
  const now = clock.now();
  const window = recentWindow(now, settings.timeZone, settings.recentDays);
  const certifications = [...calendar.values()].reduce((sum, { count }) => sum + count, 0);
  const progress = progressOf(state ?? { baseline: { status: 'none' } }, calendar);
  const today = window.today.toString();
  const isBackingOff =
    state?.backOff !== undefined && Temporal.Instant.compare(now, state.backOff.until) < 0;
  const nextTick = state && nextAfter(state, parts);
  return {
    result: {
      at: now.toString(),
      settings: settingsTold(parts),
      standing: standingOf(state, parts, waiting),
      busy:
        state?.leasedUntil !== undefined && Temporal.Instant.compare(now, state.leasedUntil) < 0,
      ...(state?.paused && { paused: pausedBy(state) }),
      ...(isBackingOff && {
        backingOff: {
          until: state.backOff.until.toString(),
          failures: state.backOff.failures,
        },
      }),
      baseline: {
        ...progress,
        ...(partner && 'count' in partner && { total: partner.count }),
      },
      ...(state?.heartbeat !== undefined && { lastTick: state.heartbeat }),
      ...(nextTick !== undefined && { nextTick }),
      certifications: Math.max(0, certifications),
      ...(partner && { partner }),
      unexplained: state?.unexplained ?? 0,
      ...(state?.collapsedFrom !== undefined && { collapsedFrom: state.collapsedFrom }),
      today: { ...noChanges, ...(state?.today?.day === today && state.today), day: today },
      waiting,
      ...proofs(calendar, window.from.toString()),
      detection: detectionTimes(settings, certifications),
      conditions: state ? conditionsOf(state, settings) : [],
      ...(history && { history: history.map(plain) }),
    },
  };
}

async function partnerTotal({ partner, clock }: OperationParts, { limit }: Call) {
  try {
    const count = await partner.count({}, limit.deadline);
    return { count, at: clock.now().toString() };
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

/** The first that applies. */
function standingOf(
  state: State | undefined,
  { clock, settings }: OperationParts,
  waiting: Readonly<Record<Waits, number>>,
): Status['standing'] {
  const now = clock.now();
  if (state?.paused) return 'paused';
  if (state?.backOff && Temporal.Instant.compare(now, state.backOff.until) < 0)
    return 'backing-off';
  if (state?.heartbeat === undefined && state?.baseline.status !== 'running') return 'never-ticked';
  if (state.baseline.status !== 'completed') return 'baseline';
  if (minutesSince(state, now) > missedTicks * settings.every) return 'behind';
  return waiting.pending > 0 ? 'owing' : 'up-to-date';
}

function minutesSince({ heartbeat }: State, now: Temporal.Instant): number {
  if (heartbeat === undefined) return Number.POSITIVE_INFINITY;
  return now.since(Temporal.Instant.from(heartbeat)).total('minutes');
}

function nextAfter(
  { heartbeat, paused }: State,
  { settings, clock }: OperationParts,
): string | undefined {
  if (paused || heartbeat === undefined) return undefined;
  const due = Temporal.Instant.from(heartbeat).add({ minutes: settings.every });
  // The schedule does not wait for a tick: one that is overdue can begin at any moment.
  const now = clock.now();
  return (Temporal.Instant.compare(due, now) < 0 ? now : due).toString();
}

function proofs(
  calendar: ReadonlyMap<string, DayEntry>,
  recentFrom: string,
): Pick<Status, 'oldestProof' | 'unproven'> {
  const oldest = new Map<'recent' | 'history', { day: string; at: number }>();
  const unproven: { day: string; unprovenSince: number | undefined }[] = [];
  for (const [day, { proof, unprovenSince }] of calendar) {
    if (proof === undefined) {
      unproven.push({ day, unprovenSince });
      continue;
    }
    const part = day >= recentFrom ? 'recent' : 'history';
    const before = oldest.get(part);
    if (before === undefined || proof.at < before.at) oldest.set(part, { day, at: proof.at });
  }
  const told = (part: 'recent' | 'history') => {
    const found = oldest.get(part);
    return found && { [part]: { day: found.day, at: instant(found.at) } };
  };
  return {
    oldestProof: { ...told('recent'), ...told('history') },
    unproven: {
      days: unproven.length,
      first: unproven
        .sort((a, b) => (a.day < b.day ? -1 : 1))
        .slice(0, unprovenShown)
        .map(({ day, unprovenSince }) => ({
          day,
          ...(unprovenSince !== undefined && { since: instant(unprovenSince) }),
        })),
    },
  };
}

function conditionsOf(
  { conditions }: State,
  settings: OperationParts['settings'],
): Status['conditions'] {
  return [...conditions].map(([name, { since, number, told }]) => ({
    name,
    since: instant(since),
    number,
    ...(told && { toldAt: instant(told.at) }),
    ...conditionWording(settings, name),
  }));
}

/** As it is in JSON: settings of a command are nothing else. */
function plain({ settings, outcome, ...record }: CommandRecord) {
  return {
    ...record,
    settings: z.record(z.string(), z.json()).parse(settings),
    ...(outcome && { outcome }),
  };
}

function settingsTold({ settings }: OperationParts): Status['settings'] {
  const { name, baseUrl, tokenRequest, timeZone, recentDays, every, holdAbove, announce } =
    settings;
  return {
    integration: name,
    baseUrl,
    tokenRequest,
    timeZone,
    recentDays,
    every,
    holdAbove,
    announce: typeof announce === 'string' ? announce : `since ${announce.since}`,
  };
}
