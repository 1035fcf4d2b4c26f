import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { type ConditionName, conditionNames, type OpenCondition } from '../detection/conditions.ts';
import { type GateMemory, nothingFound } from '../detection/gate.ts';
import type { Missing } from '../detection/missing.ts';
import type { Pace } from '../detection/pace.ts';
import type { Bookmark } from '../ports/partner-reader.ts';
import type { State, StateChanges } from '../ports/state.ts';
import { nameOf, parse } from './item.ts';
import type { Plain } from './table.ts';

export const stateKey = (integration: string) => `STATE#${integration}`;

export const day = z.pipe(
  z.iso.date(),
  z.transform((text) => Temporal.PlainDate.from(text)),
);

export const bookmark = z.object({
  from: z.optional(day),
  to: z.optional(day),
  offset: z.int(),
  anchors: z.array(z.int()),
  is_sweep: z.optional(z.boolean()),
});

/** A top-level attribute each, so that ticks that overlap do not undo each other's. */
export const conditionAttribute = (name: ConditionName) => `condition:${name}`;

const condition = z.optional(
  z.object({
    /** Milliseconds since the epoch. */
    since: z.number(),
    number: z.int(),
    told: z.optional(z.object({ at: z.number(), number: z.int() })),
    owes: z.optional(z.enum(['begins', 'grows', 'ends'])),
    details: z.optional(z.array(z.string())),
    paths: z.optional(z.record(z.string(), z.object({ at: z.number(), records: z.int() }))),
  }),
);

const missing = z.object({
  total: z.int(),
  notes: z.array(
    z.object({
      id: z.int(),
      day: z.iso.date(),
      since: z.number(),
      asked_at: z.optional(z.number()),
      shown_by_id: z.optional(z.literal(true)),
    }),
  ),
  withdrawn: z.array(z.object({ at: z.number(), number: z.int() })),
  accepted: z.int(),
  too_many_since: z.optional(z.number()),
  look_at: z.optional(z.number()),
});

const pace = z.object({
  since: z.number(),
  sent: z.int(),
  learned: z.optional(z.int()),
  refused_at: z.optional(z.number()),
  refused_since: z.optional(z.number()),
  closed_until: z.optional(z.number()),
});

const gate = z.object({
  found: z.array(
    z.object({
      at: z.number(),
      known: z.int(),
      created: z.int(),
      updated: z.int(),
      restored: z.int(),
    }),
  ),
  edits: z.array(z.object({ at: z.number(), number: z.int() })),
  unsettled: z.array(
    z.object({ id: z.int(), revision: z.int(), at: z.number(), is_out: z.boolean() }),
  ),
  open_until: z.optional(z.number()),
});

const stateItem = z.object({
  /** Key of the fingerprints' hashes; random, made once, never changed. */
  salt: z.string().check(z.minLength(1)),
  baseline: z.optional(
    z.object({
      status: z.enum(['running', 'completed']),
      begun_at: z.optional(z.number()),
      start_day: day,
      before: z.optional(day),
      slice_days: z.optional(z.number().check(z.positive())),
      bookmark: z.optional(bookmark),
      is_notice_owed: z._default(z.boolean(), false),
      is_anew: z._default(z.boolean(), false),
    }),
  ),
  /** Since then some outbox may hold an event that was never settled. */
  dirty_since: z.optional(z.number()),
  heartbeat: z.optional(z.string()),
  expected: z._default(z.int(), 0),
  unexplained: z._default(z.int(), 0),
  unexplained_since: z.nullish(z.number()),
  has_more_to_find: z._default(z.boolean(), false),
  missing: z.nullish(missing),
  today: z.optional(
    z.object({
      day: z.iso.date(),
      created: z.int(),
      updated: z.int(),
      withdrawn: z.int(),
      restored: z.int(),
    }),
  ),
  pulse_digest: z.optional(z.string()),
  years: z._default(z.set(z.int()), () => new Set<number>()),
  trail: z.nullish(z.object({ from: z.iso.date(), to: z.iso.date() })),
  bookmark: z.nullish(z.extend(bookmark, { day: z.iso.date(), count: z.int() })),
  /** Times are milliseconds since the epoch. */
  recent_audit_at: z._default(z.number(), 0),
  history_audit_at: z._default(z.number(), 0),
  audits_from: z._default(z.number(), 0),
  /** Written otherwise, by another version: nothing is remembered. */
  gate: z.catch(z.optional(gate), undefined),
  back_off: z.optional(z.object({ until: z.number(), failures: z.int() })),
  pace: z.optional(pace),
  paused: z._default(z.boolean(), false),
  lease_until: z.optional(z.number()),
  pause: z.optional(
    z.object({ since: z.number(), by: z.optional(z.string()), reason: z.string() }),
  ),
  reported: z._default(z.array(z.string()), () => []),
  digest: z.nullish(z.object({ due_at: z.number(), owed_at: z.number() })),
});

type StateItem = z.output<typeof stateItem>;

export function parseState(item: Plain): State {
  const parsed: StateItem = parse(stateItem, item);
  const { baseline, dirty_since, heartbeat, back_off, pulse_digest } = parsed;
  return {
    salt: parsed.salt,
    baseline: baseline
      ? {
          status: baseline.status,
          startDay: baseline.start_day,
          ...(baseline.begun_at !== undefined && { begunAt: baseline.begun_at }),
          ...(baseline.before && { before: baseline.before }),
          ...(baseline.slice_days !== undefined && { sliceDays: baseline.slice_days }),
          ...(baseline.bookmark && { bookmark: bookmarkOf(baseline.bookmark) }),
          ...(baseline.is_notice_owed && { isNoticeOwed: true }),
          ...(baseline.is_anew && { isAnew: true }),
        }
      : { status: 'none' },
    ...(dirty_since !== undefined && { dirtySince: instant(dirty_since) }),
    ...(heartbeat !== undefined && { heartbeat }),
    expected: parsed.expected,
    unexplained: parsed.unexplained,
    ...(parsed.unexplained_since && { unexplainedSince: parsed.unexplained_since }),
    hasMoreToFind: parsed.has_more_to_find,
    ...(parsed.missing && { missing: missingOf(parsed.missing) }),
    ...(parsed.today && { today: parsed.today }),
    ...(pulse_digest !== undefined && { pulseDigest: pulse_digest }),
    years: [...parsed.years],
    ...(parsed.trail && { trail: parsed.trail }),
    ...(parsed.bookmark && {
      bookmark: {
        ...bookmarkOf(parsed.bookmark),
        day: parsed.bookmark.day,
        count: parsed.bookmark.count,
      },
    }),
    recentAuditAt: parsed.recent_audit_at,
    historyAuditAt: parsed.history_audit_at,
    auditsFrom: parsed.audits_from,
    gate: parsed.gate ? gateOf(parsed.gate) : nothingFound,
    ...(back_off && { backOff: { until: instant(back_off.until), failures: back_off.failures } }),
    ...(parsed.pace && { pace: paceOf(parsed.pace) }),
    paused: parsed.paused,
    ...(parsed.lease_until !== undefined && { leasedUntil: instant(parsed.lease_until) }),
    ...(parsed.pause && { pause: { ...parsed.pause, since: instant(parsed.pause.since) } }),
    reported: parsed.reported,
    conditions: conditionsOf(item),
    ...(parsed.digest && {
      digest: { dueAt: instant(parsed.digest.due_at), owedAt: instant(parsed.digest.owed_at) },
    }),
  };
}

/** The attributes of the state item that these changes set. */
export function stateAttributes(changes: Omit<StateChanges, 'dirty'>): Plain {
  const { baseline } = changes;
  const attributes = {
    baseline: baseline && {
      status: baseline.status,
      begun_at: baseline.begunAt,
      start_day: baseline.startDay?.toString(),
      before: baseline.before?.toString(),
      slice_days: baseline.sliceDays,
      bookmark: baseline.bookmark && bookmarkAttributes(baseline.bookmark),
      is_notice_owed: baseline.isNoticeOwed,
      is_anew: baseline.isAnew,
    },
    bookmark: changes.bookmark && {
      ...bookmarkAttributes(changes.bookmark),
      day: changes.bookmark.day,
      count: changes.bookmark.count,
    },
    expected: changes.expected,
    unexplained: changes.unexplained,
    unexplained_since: changes.unexplainedSince,
    has_more_to_find: changes.hasMoreToFind,
    missing: changes.missing && missingAttributes(changes.missing),
    today: changes.today,
    pulse_digest: changes.pulseDigest,
    trail: changes.trail,
    recent_audit_at: changes.recentAuditAt,
    history_audit_at: changes.historyAuditAt,
    audits_from: changes.auditsFrom,
    gate: changes.gate && gateAttributes(changes.gate),
    reported: changes.reported,
    digest: changes.digest && {
      due_at: changes.digest.dueAt.epochMilliseconds,
      owed_at: changes.digest.owedAt.epochMilliseconds,
    },
  };
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

function conditionsOf(item: Plain): Map<ConditionName, OpenCondition> {
  const open = new Map<ConditionName, OpenCondition>();
  for (const name of conditionNames) {
    const parsed = parse(condition, item[conditionAttribute(name)], nameOf(item));
    if (parsed === undefined) continue;
    const { since, number, told, owes, details, paths } = parsed;
    open.set(name, {
      since,
      number,
      ...(told && { told }),
      ...(owes && { owes }),
      ...(details && { details }),
      ...(paths && { paths }),
    });
  }
  return open;
}

function gateOf({ unsettled, open_until, ...rest }: z.output<typeof gate>): GateMemory {
  return {
    ...rest,
    unsettled: unsettled.map(({ is_out, ...one }) => ({ ...one, isOut: is_out })),
    ...(open_until !== undefined && { openUntil: open_until }),
  };
}

function gateAttributes({ unsettled, openUntil, ...rest }: GateMemory) {
  return {
    ...rest,
    unsettled: unsettled.map(({ isOut, ...one }) => ({ ...one, is_out: isOut })),
    open_until: openUntil,
  };
}

function missingOf(item: z.output<typeof missing>): Missing {
  const { too_many_since, look_at, notes, ...rest } = item;
  return {
    ...rest,
    notes: notes.map(({ asked_at, shown_by_id, ...note }) => ({
      ...note,
      ...(asked_at !== undefined && { askedAt: asked_at }),
      ...(shown_by_id && { isShownById: shown_by_id }),
    })),
    ...(too_many_since !== undefined && { tooManySince: too_many_since }),
    ...(look_at !== undefined && { lookAt: look_at }),
  };
}

function missingAttributes({ notes, tooManySince, lookAt, ...rest }: Missing) {
  return {
    ...rest,
    notes: notes.map(({ askedAt, isShownById, ...note }) => ({
      ...note,
      asked_at: askedAt,
      shown_by_id: isShownById,
    })),
    too_many_since: tooManySince,
    look_at: lookAt,
  };
}

function paceOf({ since, sent, learned, ...item }: z.output<typeof pace>): Pace {
  const { refused_at, refused_since, closed_until } = item;
  return {
    since,
    sent,
    ...(learned !== undefined && { learned }),
    ...(refused_at !== undefined && { refusedAt: refused_at }),
    ...(refused_since !== undefined && { refusedSince: refused_since }),
    ...(closed_until !== undefined && { closedUntil: closed_until }),
  };
}

export function paceAttributes({ refusedAt, refusedSince, closedUntil, ...rest }: Pace) {
  return {
    ...rest,
    refused_at: refusedAt,
    refused_since: refusedSince,
    closed_until: closedUntil,
  };
}

export function bookmarkOf(item: z.output<typeof bookmark>): Bookmark {
  const { from, to, offset, anchors, is_sweep: isSweep } = item;
  const range = { ...(from && { from }), ...(to && { to }) };
  return { range, offset, anchors, ...(isSweep !== undefined && { isSweep }) };
}

export function bookmarkAttributes({ range, offset, anchors, isSweep }: Bookmark) {
  const { from, to } = range;
  return { from: from?.toString(), to: to?.toString(), offset, anchors, is_sweep: isSweep };
}

const instant = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms);
