import * as z from 'zod/mini';
import { proofKind } from '../../detection/calendar.ts';
import { faults } from '../../errors.ts';

/*
 * What definitions of commands have in common. No personal data anywhere. Instants are RFC 3339 in UTC, days are
 * `YYYY-MM-DD` in the partner's time zone, durations are minutes.
 */

export const instant = z.iso.datetime();
export const day = z.iso.date();
export const count = z.int().check(z.nonnegative());
export const kind = z.enum(['created', 'updated', 'withdrawn', 'restored']);
export const byKind = z.object({
  created: count,
  updated: count,
  withdrawn: count,
  restored: count,
});
export const noneOfAnyKind = (): z.output<typeof byKind> => ({
  created: 0,
  updated: 0,
  withdrawn: 0,
  restored: 0,
});

/**
 * Who asks, as the caller says: the ARN of the identity that the command line runs under. A claim;
 * CloudTrail knows who has invoked the function. An ARN has 2,048 printable ASCII characters at most.
 */
export const by = z.optional(z.string().check(z.regex(/^[ -~]{1,2048}$/)));
/** Why, in a sentence, for those who read the status. Not for personal data: it is stored. */
export const reason = z.string().check(z.trim(), z.minLength(1), z.maxLength(200));
/** Names the record of a command that goes on in several calls: part of `next`, or chosen by the caller. */
export const operation = z.optional(z.string().check(z.maxLength(100)));

/** The command that goes on where this call stopped; absent: everything was done. */
export const next = z.optional(
  z.looseObject({ command: z.string(), after: z.optional(z.string()) }),
);

/** Of an assessment or an organization. */
export const id = z.int().check(z.positive());
/** Assessments, or organizations, that one command may name. */
export const idsAtOnce = 1_000;
/** Which events: whatever is not given does not restrict it. */
export const selection = {
  ids: z.optional(z.array(id).check(z.minLength(1), z.maxLength(idsAtOnce))),
  organizations: z.optional(z.array(id).check(z.minLength(1), z.maxLength(idsAtOnce))),
  types: z.optional(z.array(kind).check(z.minLength(1))),
};

/** On average. */
export const eventsPerSecond = z._default(z.int().check(z.minimum(1), z.maximum(1_000)), 50);

export const inOrder = { error: '`from` must not be after `to`' };

/** What went wrong, as data. */
export const problemSchema = z.object({
  /** Stable, kebab-case. */
  code: z.string(),
  fault: z.enum(faults),
  message: z.string(),
  /** Whether the same command, sent again later, can succeed without anybody doing anything. */
  retryHelps: z.boolean(),
  whatToDo: z.string(),
});

export const proof = z.object({ kind: proofKind, at: instant });

/** Since when the integration is paused, by whom and why, as far as it was said. What is asked for happens when it is resumed. */
export const paused = z.optional(
  z.object({
    since: z.optional(instant),
    by: z.optional(z.string()),
    reason: z.optional(z.string()),
  }),
);
