import * as z from 'zod/mini';
import type { Problem } from '../describe-error.ts';
import { proofKind } from '../detection/calendar.ts';
import { dayTally, presence } from '../detection/compare.ts';
import { conditionNames } from '../detection/conditions.ts';
import { inEnglish, problemsOf } from '../english.ts';
import { errorOf, faults } from '../errors.ts';
import type { ExpectedSubscription } from '../names.ts';
import { commandRecord } from '../ports/command-record.ts';
import { revisionNoted } from '../ports/ledger.ts';
import { denialNoted } from '../ports/state.ts';

/*
 * What definitions of commands have in common. No personal data anywhere. Instants are RFC 3339 in UTC, days are
 * `YYYY-MM-DD` in the partner's time zone, durations are minutes.
 */

const instant = z.iso.datetime();
const day = z.iso.date();
const count = z.int().check(z.nonnegative());
export const kind = z.enum(['created', 'updated', 'withdrawn', 'restored']);
const none = z._default(count, 0);
const byKind = z.object({ created: none, updated: none, withdrawn: none, restored: none });
export const noneOfAnyKind = () => byKind.parse({});

/**
 * Who asks, as the caller says: the ARN of the identity that the command line runs under. A claim;
 * CloudTrail knows who has invoked the function. An ARN has 2,048 printable ASCII characters at most.
 */
const by = z.optional(z.string().check(z.regex(/^[ -~]{1,2048}$/)));
/** Why, in a sentence, for those who read the status. Not for personal data: it is stored. */
const reason = z.string().check(z.trim(), z.minLength(1), z.maxLength(200));
/** Names the record of a command that goes on in several calls: part of `next`, or chosen by the caller. */
const operation = z.optional(z.string().check(z.maxLength(100)));

/** The command that goes on where this call stopped; absent: everything was done. */
const next = z.optional(z.looseObject({ command: z.string(), after: z.optional(z.string()) }));

/** Of an assessment or an organization. */
const id = z.int().check(z.positive());
/** Assessments, or organizations, that one command may name. */
export const idsAtOnce = 1_000;
/** Which events: whatever is not given does not restrict it. */
const selection = {
  ids: z.optional(z.array(id).check(z.minLength(1), z.maxLength(idsAtOnce))),
  organizations: z.optional(z.array(id).check(z.minLength(1), z.maxLength(idsAtOnce))),
  types: z.optional(z.array(kind).check(z.minLength(1))),
};

/** On average. */
const eventsPerSecond = z._default(z.int().check(z.minimum(1), z.maximum(1_000)), 50);

const inOrder = { error: '`from` must not be after `to`' };

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

/** Since when the integration is paused, by whom and why, as far as it was said. What is asked for happens when it is resumed. */
const paused = z.optional(
  z.object({
    since: z.optional(instant),
    by: z.optional(z.string()),
    reason: z.optional(z.string()),
  }),
);

/** Commands that tell of an integration, of one assessment, of days, and of the deployment. */

/**
 * Why an integration is not up to date: the gravest first. Beside the conditions that operations are
 * told of: `schedule-removed`, `schedule-disabled`: the function does not know; the command line adds it.
 * `behind`: no tick has completed for three periods, and it is not paused. `partner-silent`: it was asked
 * for its total just now, and gave none. `unfinished`: the last tick that looked has not found everything
 * that the total differs by, or could not commit something. `differs`: no day explains what the total
 * differs by. What has come or gone since that tick is no reason, unless ticks are behind: then
 * `partner.count` is not `certifications`. `owing`: events wait for the next tick.
 */
export const reasons = [
  'never-ticked',
  'schedule-removed',
  'schedule-disabled',
  'paused',
  'backing-off',
  'baseline',
  'behind',
  'denied',
  'partner-silent',
  'unfinished',
  'differs',
  ...conditionNames,
  'owing',
] as const;

export type Reason = (typeof reasons)[number];

const status = {
  does: 'Up to date, or why not: all there is to know about each integration.',
  command: z.strictObject({
    command: z.literal('status'),
    /** `false`: the partner's total is not asked for. */
    partner: z._default(z.boolean(), true),
    /** Also the commands that changed something, newest first. */
    history: z._default(z.boolean(), false),
  }),
  result: z.object({
    at: instant,
    settings: z.object({
      integration: z.string(),
      baseUrl: z.string(),
      tokenRequest: z.enum(['form', 'basic', 'json']),
      timeZone: z.string(),
    }),
    /** The first of `reasons`; `up-to-date` only if there is none. */
    standing: z.enum([...reasons, 'up-to-date']),
    /** Everything that keeps it from being up to date. */
    reasons: z.array(z.enum(reasons)),
    /** Somebody works on it at this moment. */
    busy: z.boolean(),
    paused,
    backingOff: z.optional(z.object({ until: instant, failures: count })),
    /** How far the first full read is. */
    baseline: z.object({
      status: z.enum(['none', 'running', 'completed']),
      /** Days before this one are still to be read; absent where a fan-out reads them in any order. */
      before: z.optional(day),
      /** Certifications on the days read so far. */
      counted: count,
    }),
    /** End of the last tick that got there. */
    lastTick: z.optional(instant),
    /** What AWS has denied the tick that ran last: action, resource, request, and what to grant. */
    denial: z.optional(denialNoted),
    /** The last self-check, and what fails of it, by a short name; absent: none yet. */
    selfCheck: z.optional(z.object({ at: instant, failed: z.record(z.string(), z.string()) })),
    certifications: count,
    /** Its total, or why it has not told it: a failure does not fail the command. Absent: not asked. */
    partner: z.optional(z.union([z.object({ count }), z.object({ problem: problemSchema })])),
    /** By how much the partner's total differs although no day does. */
    unexplained: z.int(),
    /** Known, not in the partner's list, and not withdrawn; `isTooMany`: nor will they be, before ops accept the total. */
    missing: z.object({ number: count, isTooMany: z.boolean() }),
    /** Announced or held since midnight in the partner's time zone, by the ticks that came to their end. */
    today: dayTally,
    /** Certifications with an event that waits: for the next tick, for a digest, for ops. */
    waiting: z.object({ pending: count, digest: count, held: count, undeliverable: count }),
    /** The proof that is oldest, and its day; absent: no day is proven. */
    oldestProof: z.optional(z.object({ day, at: instant })),
    /** Days up to today that a certificate (`prove`) calls unproven; the oldest twenty of them. */
    unproven: z.object({ days: count, first: z.array(day) }),
    /** Minutes until a change is found at worst, by these settings: docs/detection.md. */
    detection: z.object({
      /** New, restored, or edited on a day that the newest page shows whole. */
      news: z.number(),
      withdrawn: z.number(),
      /** On the other days of the recent window. */
      editedRecent: z.number(),
      /** Before that; or one gone and one new on a day there. */
      editedHistory: z.number(),
    }),
    /** What lasts of what operations are told of. */
    conditions: z.array(
      z.object({
        name: z.enum(conditionNames),
        since: instant,
        /** Of `held` and `undeliverable`, the certifications that wait now; of the others, by the last tick. */
        number: count,
        /** When operations were told of it last; absent: they are still to be. */
        toldAt: z.optional(instant),
      }),
    ),
    /** Newest first; absent: not asked for. */
    history: z.optional(z.readonly(z.array(commandRecord))),
  }),
};

const dayProof = z.object({
  day,
  /** What the proof found; of an unproven day, what the partner is expected to count. */
  count,
  /** How many more are known since the proof, or fewer. Absent: none. */
  since: z.optional(z.int()),
  proof: z.optional(z.object({ kind: proofKind, at: instant })),
  /** Over what the proven read found; keyed, to be compared with itself only. */
  digest: z.optional(z.string()),
  unprovenSince: z.optional(instant),
});

/**
 * What has become of a revision. `baseline`: recorded, not announced. `announced`: SNS has accepted it, people are
 * told as well. `digest-owed`: people are still to be told. `announced-to-people`: released for people, not for
 * machines; `digest-only-owed`: and they are still to be told. `undone`: it was held, or undid what was, and left
 * the outbox by itself.
 */
const outcome = z.enum([
  'baseline',
  'announced',
  'announced-to-people',
  'digest-owed',
  'digest-only-owed',
  'pending',
  'held',
  'undeliverable',
  'discarded',
  'undone',
]);

const revisionStory = z.extend(z.omit(revisionNoted, { undone: true }), {
  revision: count,
  /** Of the event that it has; absent: none was made (baseline). */
  event: z.optional(z.string()),
  delivery: outcome,
  /** With which SNS has refused it for good. */
  code: z.optional(z.string()),
  /** It waits only because one before it is held. */
  behind: z.optional(z.boolean()),
});

const explain = {
  does: 'The life of one assessment: what was seen and announced of it, or why nothing was.',
  command: z.strictObject({
    command: z.literal('explain'),
    id,
  }),
  result: z.object({
    id: count,
    /**
     * The gist. Known: what became of its last revision. Not known: `quarantined` (the partner's record
     * has no usable id or day), `not-yet-seen` (the partner has it, no tick has found it), `not-at-partner`
     * (404: unknown, out of scope, or the id of a part), `partner-silent` (it could not be asked).
     * `unknown`: its last revision was recorded before there was a history.
     */
    verdict: z.enum([
      ...outcome.options,
      'quarantined',
      'not-yet-seen',
      'not-at-partner',
      'partner-silent',
      'unknown',
    ]),
    /** Absent: the ledger does not know it. */
    known: z.optional(
      z.object({
        day,
        presence,
        revision: count,
        organization_id: z.nullable(z.int()),
        assessment_name: z.nullable(z.string()),
        /** Absent: recorded before that was kept. */
        firstSeen: z.optional(instant),
        /** The newest fifty at most, oldest first. */
        revisions: z.array(revisionStory),
      }),
    ),
    /** Its day in the calendar, by what is known of it or by the partner's record. */
    day: z.optional(dayProof),
    /** What the partner has under this id now. */
    partner: z.union([
      z.object({
        has: z.literal('record'),
        day,
        organization_id: z.nullable(z.int()),
        /** It is what was recorded last; absent: nothing was. */
        asRecorded: z.optional(z.boolean()),
      }),
      z.object({ has: z.enum(['nothing', 'malformed']) }),
      z.object({ has: z.literal('no-answer'), problem: problemSchema }),
    ]),
  }),
};

/**
 * Calendar years that one certificate may tell of. It is one answer, which has 6 MB at most, and some 200 bytes
 * a day.
 */
export const certificateYears = 30;

/** Invalid dates are reported separately. */
export function fitsOneCertificate({ from, to }: { readonly from: string; readonly to: string }) {
  const isTooLong = Number(to.slice(0, 4)) - Number(from.slice(0, 4)) >= certificateYears;
  return !isTooLong;
}

const prove = {
  does: 'The completeness certificate: each day with its proof, its count and its digest.',
  command: z
    .strictObject({
      command: z.literal('prove'),
      /** Both included. */
      from: day,
      to: day,
      /** Reads all of them again first, and announces what differs. */
      now: z._default(z.boolean(), false),
      by,
      /** When the first of several calls began: what was read since is done; part of `next`. */
      since: z.optional(instant),
      operation,
    })
    .check(
      z.refine(({ from, to }) => from <= to, inOrder),
      z.refine(fitsOneCertificate, {
        error: `\`from\` and \`to\` must be within ${certificateYears} calendar years`,
      }),
    ),
  result: z.object({
    /** In order. A day without an entry was read with the next one that has: `readWith`. */
    days: z.array(
      z.extend(dayProof, {
        /**
         * `proven`: by a read that began when the day was over. `open`: it is not over; proven is what it
         * had at the time of its proof, if it has one since it began. `unproven`: there is no proof, or none since it was over.
         * `not-yet`: it is still to come.
         */
        standing: z.enum(['proven', 'open', 'unproven', 'not-yet']),
        readWith: z.optional(day),
        /**
         * Why a day is `unproven`. `never-read`: no tick has come to it. `without-proof`: no read of it could be proven,
         * since `unprovenSince`. `before-its-end`: its last proof is from a read that began before it was over.
         * `neighbour`: it has no entry, and the day beside it that it was read with, `neighbour`, is without a proof.
         */
        cause: z.optional(z.enum(['never-read', 'without-proof', 'before-its-end', 'neighbour'])),
        neighbour: z.optional(day),
      }),
    ),
    /** Days that are still to be read again, of those with an entry; 0 unless `now`. */
    toRead: count,
    /** What reading again has found. Absent: not this call has read them, but scheduled ticks, if any. */
    found: z.optional(byKind),
    next,
  }),
};

const expectedSubscription = z.object({
  topic: z.enum(['events', 'alerts', 'operations']),
  protocol: z.string(),
  endpoint: z.string(),
  name: z.string(),
}) satisfies z.ZodMiniType<ExpectedSubscription>;

export const checkNames = [
  'ledger',
  'topics',
  'subscriptions',
  'secret',
  'token',
  'scope',
  'records',
  'time-zone',
  'day-bounds',
  'single-record',
] as const;

const check = {
  does: 'Tries everything that a first deployment can get wrong, and explains each failure.',
  command: z.strictObject({
    command: z.literal('check'),
    /**
     * As the schedule does it once a day: what fails is noted for the ticks, which tell operations. The partner is
     * not asked while it is left alone.
     */
    note: z._default(z.boolean(), false),
    /** Which there should be, by the configuration; absent: nobody has said, and they are not looked for. */
    subscriptions: z.optional(z.readonly(z.array(expectedSubscription))),
  }),
  result: z.object({
    /** In the order in which they were made: what follows a failure may be skipped because of it. */
    checks: z.array(
      z.object({
        name: z.enum(checkNames),
        outcome: z.enum(['ok', 'warning', 'failed', 'skipped']),
        /** What was found, in a sentence. */
        found: z.string(),
        /** Of a warning or a failure. */
        whatToDo: z.optional(z.string()),
        /** Of what a condition or an error is behind: its name, or its code. */
        code: z.optional(z.string()),
      }),
    ),
  }),
};

/** Commands that change how ticks go on. */

const tick = {
  does: 'Runs a tick now, beside the schedule.',
  command: z.strictObject({ command: z.literal('tick'), by }),
  result: z.object({
    outcome: z.enum([
      'completed',
      'baseline',
      'busy',
      'paused',
      'backing-off',
      'no-credentials',
      'disturbed',
    ]),
    ...byKind.shape,
    recorded: count,
    delivered: count,
    undelivered: count,
    undeliverable: count,
    held: count,
    quarantined: count,
    failed: count,
    missing: count,
    cutShort: z.boolean(),
    requests: count,
    durationMs: z.number(),
  }),
};

const steered = z.object({
  /** `false`: it was so already, or a baseline is running, and goes on; nothing was changed. */
  changed: z.boolean(),
  paused,
});
const why = { reason: z.optional(reason), by };

/** More is missing than may be withdrawn, and the partner's total is right. */
const acceptTotal = {
  does: 'Many certifications are missing at the partner, and its total is right.',
  command: z.strictObject({
    command: z.literal('accept-total'),
    /** What was looked at: accepted only if the partner still shows as many, within a tenth. */
    total: count,
    ...why,
  }),
  result: z.object({
    /** `false`: no more is missing than may be withdrawn; there is nothing to accept. */
    changed: z.boolean(),
    /** What the partner shows. */
    total: count,
    /** What was expected. */
    before: count,
    paused,
  }),
};

/** The secret has other credentials now: the partner is not left alone any longer. */
const credentialsStored = {
  does: 'The secret has other credentials: the partner is asked again at once, whatever it refused before.',
  command: z.strictObject({
    command: z.literal('credentials-stored'),
    /** `false`: they are about to be. It is noted who stores them, before it is done; `next` says that it was. */
    stored: z._default(z.boolean(), true),
    by,
    operation,
  }),
  /** `changed`: the partner was left alone after refusals, and no longer is. */
  result: z.object({ changed: z.boolean(), next }),
};

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
  does: 'What waits for a decision of operators, by type, organization and year.',
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
    /** Of the organizations in the list, by id, as far as events have them. */
    organizationNames: z._default(z.record(z.string(), z.string()), {}),
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
  /** Left the outbox, and do not go out: each led away from what its certification was like, or back to it. */
  undone: count,
  /** Selected, and still held because an earlier event of the same certification is. */
  behind: count,
  unreadable: count,
};

const release = {
  does: 'Sends on what is held; the next tick delivers it.',
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
  does: 'Throws away what is held: nobody is told of it.',
  command: z.strictObject({ command: z.literal('discard'), ...waitingSelection, by, operation }),
  result: z.object({ ...decided, next }),
};

const testEvent = {
  does: 'Sends an event about nobody, marked as a test, the way of every other.',
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
  /** Subscribers do not get its last event: ops decided so, or all that there was of it undid itself. */
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
  does: 'Sends events of the past again, to the topic or to one queue.',
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

/**
 * Every command that the operate function carries out: what it does in a sentence, what it is sent, and what it answers. Those that
 * change anything say `by` whom. What both sides of an invocation import.
 */
export const contract = {
  status,
  explain,
  prove,
  check,
  tick,
  'accept-total': acceptTotal,
  'credentials-stored': credentialsStored,
  pause: {
    does: 'Stops an integration: ticks do nothing until it is resumed.',
    command: z.strictObject({ command: z.literal('pause'), reason, by }),
    result: steered,
  },
  resume: {
    does: 'Lets the ticks of a paused integration go on.',
    command: z.strictObject({ command: z.literal('resume'), ...why }),
    result: steered,
  },
  'restart-baseline': {
    does: 'Reads everything anew, and announces what the ledger does not know.',
    command: z.strictObject({ command: z.literal('restart-baseline'), ...why }),
    result: steered,
  },
  holds,
  release,
  discard,
  'test-event': testEvent,
  replay,
};

type Contract = typeof contract;
export type CommandName = keyof Contract;
export type CommandOf<Name extends CommandName> = z.output<Contract[Name]['command']>;
export type Command = CommandOf<CommandName>;
/** What may be sent: settings with a default can be left out. */
export type CommandInput = z.input<Contract[CommandName]['command']>;
/** Which of the events that wait for ops. */
export type Selection = Omit<CommandOf<'holds'>, 'command' | 'after'>;
export type ResultOf<Name extends CommandName> = z.output<Contract[Name]['result']>;

/** What every command answers. */
export type Answer<Result = unknown> =
  | { readonly ok: true; readonly result: Result }
  | {
      readonly ok: false;
      readonly problem: Problem;
      /** What was done before it went wrong, if anything. */
      readonly result?: Result;
    };

/** The shapes of all answers, such that a command's name tells the type of its own. */
export const answers: {
  readonly [Name in CommandName]: { readonly result: z.ZodMiniType<ResultOf<Name>> };
} = contract;

/** Whether it changes anything, and is recorded: a proof or a replay may only look. */
export function isChanging(command: Command): boolean {
  if (command.command === 'prove') return command.now;
  if (command.command === 'replay') return !command.dryRun;
  return 'by' in contract[command.command].command.shape;
}

/** The function was sent something that is no command, or one with settings that it does not know. */
export class CommandInvalidError extends errorOf('command-invalid', 'ops') {
  readonly whatToDo = 'Correct the command: docs/commands.md describes each.';

  constructor(problems: readonly string[]) {
    super(`This is not a command: ${problems.join('; ')}.`);
  }
}

const isName = (name: unknown) => typeof name === 'string' && Object.hasOwn(contract, name);
const named = z.looseObject({
  command: z.custom<CommandName>(isName, {
    error: `must be one of ${Object.keys(contract).join(', ')}`,
  }),
});

/** @throws CommandInvalidError naming every problem */
export function parseCommand(input: unknown): Command {
  const name = named.safeParse(input, inEnglish);
  if (!name.success) throw new CommandInvalidError(problemsOf(name.error));
  const parsed = contract[name.data.command].command.safeParse(input, inEnglish);
  if (!parsed.success) throw new CommandInvalidError(problemsOf(parsed.error));
  return parsed.data;
}
