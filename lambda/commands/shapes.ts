import * as z from 'zod/mini';
import { proofKind } from '../decisions/calendar.ts';
import { faults } from '../errors.ts';
import { setting, type Words, worded } from './words.ts';

/*
 * Shapes that definitions of commands share. No personal data anywhere. Instants are RFC 3339 in UTC, days
 * are `YYYY-MM-DD` in the partner's time zone, durations are minutes.
 */

export const instant = z.iso.datetime();
export const day = worded(z.iso.date(), { value: 'day', allowed: 'a day, such as 2026-11-21' });
export const count = worded(z.int().check(z.nonnegative()), { allowed: 'a whole number from 0' });
export const kind = z.enum(['created', 'updated', 'withdrawn', 'restored']);
const none = z._default(count, 0);
export const byKind = z.object({ created: none, updated: none, withdrawn: none, restored: none });
export const noneOfAnyKind = () => byKind.parse({});

/**
 * The identity that asks, as the caller states it: the ARN that the command line runs under. It is
 * a claim; CloudTrail knows who has invoked the function. An ARN has 2,048 printable ASCII
 * characters at most.
 */
export const by = z.optional(z.string().check(z.regex(/^[ -~]{1,2048}$/)));
/** Why, in a sentence, for those who read the status. Not for personal data: it is stored. */
export const reason = worded(z.string().check(z.trim(), z.minLength(1), z.maxLength(200)), {
  value: 'text',
  allowed: 'a sentence of 1 to 200 characters',
});
export const reasonIfAny = setting(z.optional(reason), 'why, for the record');
/** Names the record of a command that goes on in several calls: part of `next`, or chosen by the caller. */
const operation = z.optional(z.string().check(z.maxLength(100)));

/** The caller, and the name of the record. */
export const recorded = { by, operation };

/** The command that resumes where this call stopped; absent: everything was done. */
export const next = z.optional(
  z.looseObject({ command: z.string(), after: z.optional(z.string()) }),
);

/** An id of an assessment or an organization. */
export const id = worded(z.int().check(z.positive()), { allowed: 'a whole number from 1' });
export const nameOfAssessment = worded(z.string().check(z.minLength(1), z.maxLength(200)), {
  value: 'name',
  allowed: 'a name of 1 to 200 characters',
});
/** Assessments, or organizations, that one command may name. */
export const idsAtOnce = 1_000;
/** Values of which a command may name so many. */
export const listOf = <Shape extends z.ZodMiniType>(one: Shape, words: Words) =>
  worded(z.array(one).check(z.minLength(1), z.maxLength(idsAtOnce)), words);
const ids = listOf(id, {
  value: 'ids',
  allowed: 'whole numbers from 1, with commas between them',
});
const types = worded(z.array(kind).check(z.minLength(1)), { option: 'type', value: 'types' });
/** Selects events; an absent field does not restrict the selection. */
export const selection = {
  organizations: setting(z.optional(ids), 'of these organizations', { option: 'organization' }),
  types: setting(z.optional(types), 'of these types'),
  ids: setting(z.optional(ids), 'of these assessments', { option: 'id' }),
};

/** On average. */
export const eventsPerSecond = setting(
  z._default(z.int().check(z.minimum(1), z.maximum(1_000)), 50),
  '1 to 1000 (default: 50)',
  { value: 'number', allowed: '1 to 1000' },
);

export const rangeInOrder = { error: '`from` must not be after `to`' };

/** A failure, as data. */
export const problemSchema = z.object({
  /** Stable, kebab-case. */
  code: z.string(),
  fault: z.enum(faults),
  message: z.string(),
  /** Whether the same command, sent again later, can succeed without anybody doing anything. */
  retryHelps: z.boolean(),
  whatToDo: z.string(),
});

/**
 * Since when the integration is paused, by whom and why, as far as that was said. Requested work is
 * done once it is resumed.
 */
export const paused = z.optional(
  z.object({
    since: z.optional(instant),
    by: z.optional(z.string()),
    reason: z.optional(z.string()),
  }),
);

/**
 * The types of which new events are still held because of those found within the hour, and until
 * when. Absent: there are none.
 */
export const holding = z.optional(z.object({ until: instant, types: z.array(kind) }));

const years = listOf(z.int().check(z.minimum(1), z.maximum(9999)), {
  value: 'years',
  allowed: 'years, such as 2026, with commas between them',
});
/** Selects events that wait for ops. */
export const waitingSelection = {
  /** `held`: by the gate. `undeliverable`: SNS has refused them for good. */
  waiting: setting(
    z._default(z.enum(['held', 'undeliverable']), 'held'),
    'those that SNS has refused for good, instead of those held',
    { option: 'undeliverable', means: 'undeliverable' },
  ),
  organizations: selection.organizations,
  /** Years of `certified_on`. */
  years: setting(z.optional(years), 'certified in these years', { option: 'year' }),
  types: selection.types,
  ids: selection.ids,
  /** Only events that were committed by then: later ones were not there when ops looked. */
  until: z.optional(instant),
  /** Where an earlier call stopped; part of `next`. */
  after: z.optional(
    z.string().check(z.regex(/^(pending|digest|held|undeliverable)\/[\w:.-]+\/[1-9]\d{0,14}$/)),
  ),
};

export const dayProof = z.object({
  day,
  /** The proof's count; for an unproven day, the partner's expected count. */
  count,
  /** How many more are known since the proof, or fewer. Absent: none. */
  since: z.optional(z.int()),
  proof: z.optional(z.object({ kind: proofKind, at: instant })),
  /**
   * Over the rows of the proven read. It is keyed, so only digests of the same day can be compared.
   */
  digest: z.optional(z.string()),
  unprovenSince: z.optional(instant),
  /** When a read of it was asked for, by ops or by a search; absent: none is. */
  askedAt: z.optional(instant),
});

/** A day of a certificate. */
export const dayCertified = z.extend(dayProof, {
  /**
   * `proven`: by a read that began when the day was over. `open`: the day is not over. Its proof,
   * if one has begun since the day began, covers the certifications that existed when that read
   * began. `unproven`: there is no proof, or none since the day was over. `not-yet`: the day is
   * still to come.
   */
  state: z.enum(['proven', 'open', 'unproven', 'not-yet']),
  readWith: z.optional(day),
  /**
   * Why a day is `unproven`. `never-read`: no tick has read it. `without-proof`: no read of it
   * could be proven, since `unprovenSince`. `before-its-end`: its last proof is from a read that
   * began before it was over. `neighbour`: it has no entry, and the day `neighbour` that it was
   * read with has no proof.
   */
  cause: z.optional(z.enum(['never-read', 'without-proof', 'before-its-end', 'neighbour'])),
  neighbour: z.optional(day),
});

export type DayCertified = z.output<typeof dayCertified>;

export type WaitingSelection = Omit<z.output<z.ZodMiniObject<typeof waitingSelection>>, 'after'>;
