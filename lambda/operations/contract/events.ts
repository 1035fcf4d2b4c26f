import * as z from 'zod/mini';
import {
  by,
  byKind,
  count,
  day,
  eventsPerSecond,
  id,
  idsAtOnce,
  inOrder,
  instant,
  kind,
  next,
  operation,
  paused,
  selection,
} from './common.ts';

/** Commands about events: those that wait for ops, those of the past, and a test. */

/** Which of the events that wait for ops. */
const waitingSelection = {
  /** `held`: by the gate. `undeliverable`: SNS has refused them for good. */
  waiting: z._default(z.enum(['held', 'undeliverable']), 'held'),
  ...selection,
  /** Of `certified_on`. */
  years: z.optional(
    z
      .array(z.int().check(z.minimum(1), z.maximum(9999)))
      .check(z.minLength(1), z.maxLength(idsAtOnce)),
  ),
  /** Only events that were committed by then: what has come since somebody looked is not meant. */
  until: z.optional(instant),
  /** Where an earlier call stopped; part of `next`. */
  after: z.optional(
    z.string().check(z.regex(/^(pending|digest|held|undeliverable)\/[\w:.-]+\/[1-9]\d{0,14}$/)),
  ),
};

const holds = {
  command: z.strictObject({ command: z.literal('holds'), ...waitingSelection }),
  /** Of one call: with `next`, the list goes on in another answer. */
  result: z.object({
    /** When this was looked at: as `until`, it keeps a release to what was seen. */
    at: instant,
    list: z.array(
      z.object({
        /** Of the assessment: what `ids` takes. */
        id: z.int(),
        revision: count,
        type: kind,
        /** When it was committed. */
        since: instant,
        /** Null: of a record without an organization. */
        organization_id: z.nullable(z.int()),
        /** Of `certified_on`. */
        year: z.int(),
        /** With which SNS has refused it for good. */
        code: z.optional(z.string()),
      }),
    ),
    /** Outboxes that cannot be read. */
    unreadable: count,
    next,
  }),
};

/** Hours for which one command may let everything through. */
export const mostOpenHours = 72;

const decided = {
  /** Released or discarded; of undeliverable ones, to be tried again. */
  events: count,
  byType: byKind,
  /** Not selected, and held no longer because what they were behind is decided: they go out. */
  freed: count,
  /** Selected, and still held because an earlier event of the same certification is. */
  behind: count,
  unreadable: count,
};

const release = {
  command: z
    .strictObject({
      command: z.literal('release'),
      ...waitingSelection,
      /** `digest`: people are told by mail; subscribers' machines are not. */
      as: z._default(z.enum(['events', 'digest']), 'events'),
      eventsPerSecond,
      /** From now on, nothing new is held for so many hours, of whatever kind; 0: the gate is as ever again. */
      forHours: z.optional(z.int().check(z.minimum(0), z.maximum(mostOpenHours))),
      by,
      operation,
    })
    .check(
      z.refine(
        ({ forHours, waiting, as, organizations, years, types, ids }) => {
          const isSelection = [organizations, years, types, ids].some((some) => some !== undefined);
          return forHours === undefined || (waiting === 'held' && as === 'events' && !isSelection);
        },
        {
          error:
            '`forHours` lets everything through: it goes with no selection, and not with a digest',
        },
      ),
    ),
  result: z.object({
    ...decided,
    /** Until then, nothing new is held. */
    openUntil: z.optional(instant),
    paused,
    next,
  }),
};

const discard = {
  command: z.strictObject({ command: z.literal('discard'), ...waitingSelection, by, operation }),
  result: z.object({ ...decided, next }),
};

const testEvent = {
  command: z.strictObject({
    command: z.literal('test-event'),
    /** What filters look at; left out: invented. */
    organization_id: z.optional(id),
    assessment_name: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
    late: z._default(z.boolean(), false),
    by,
  }),
  /** Of the event that SNS has accepted: what subscribers find in its `id`. */
  result: z.object({ id: z.string() }),
};

function isReplayCursor(cursor: string): boolean {
  const [reached, lastId = '1', ...more] = cursor.split('/');
  return day.safeParse(reached).success && /^[1-9]\d{0,14}$/.test(lastId) && more.length === 0;
}

/** Certifications whose last event is sent again; `types`: what that was. */
const replaySelection = {
  /** Both included; open where one is absent. */
  days: z.optional(
    z
      .strictObject({ from: z.optional(day), to: z.optional(day) })
      .check(
        z.refine(({ from, to }) => from === undefined || to === undefined || from <= to, inOrder),
      ),
  ),
  ...selection,
};

/** Why of a selected certification nothing is sent. */
const obstacles = z.enum([
  /** The partner's record is no longer what was announced last: a tick announces what it is now. */
  'changed',
  /** Its last event is still in the outbox: a tick delivers it. */
  'pending',
  /** Its last event waits for ops to release it. */
  'held',
  /** SNS has refused its last event for good. */
  'undeliverable',
  /** Subscribers do not get its last event: ops decided so, or it undid what was held. */
  'discarded',
  /** Recorded by the baseline, which was not asked for. */
  'neverAnnounced',
  /** The partner's record does not have the documented shape. */
  'unreadable',
  /** Recorded before the ledger kept a history: of what type its event was is not known. */
  'withoutHistory',
  /** Invalid to the target. */
  'refused',
  /** Of `ids`: not known to the ledger, or not readable in it. Told by the last call. */
  'unknown',
]);

const replay = {
  command: z
    .strictObject({
      command: z.literal('replay'),
      ...replaySelection,
      /** Also what the baseline recorded and nobody was ever told of: for a subscriber that starts from nothing. */
      baseline: z._default(z.boolean(), false),
      /** Absent: to the topic, and so to every subscriber. */
      to: z.optional(
        z.strictObject({
          /** ARN of an SQS queue that the function may send to. */
          queue: z
            .string()
            .check(z.regex(/^arn:aws[\w-]*:sqs:[a-z0-9-]+:\d{12}:[\w-]{1,80}(\.fifo)?$/)),
        }),
      ),
      eventsPerSecond,
      /** Counts what would be sent. */
      dryRun: z._default(z.boolean(), false),
      /** Where an earlier call stopped: `<day>/<id>` or `<day>`, everything up to which is done. */
      after: z.optional(
        z.string().check(z.refine(isReplayCursor, { error: 'must be `<day>/<id>` or `<day>`' })),
      ),
      by,
      operation,
    })
    .check(
      z.refine((command) => Object.keys(replaySelection).some((name) => name in command), {
        error: `at least one of ${Object.keys(replaySelection).join(', ')} must say what to replay`,
      }),
    ),
  result: z.object({
    dryRun: z.boolean(),
    /** Events that were sent; in a dry run, that would have been. */
    events: count,
    byType: byKind,
    /** Selected certifications of which nothing was sent, by the reason. */
    skipped: z.partialRecord(obstacles, count),
    next,
  }),
};

export const events = { holds, release, discard, 'test-event': testEvent, replay };
