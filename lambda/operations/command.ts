import * as z from 'zod/mini';
import { inEnglish } from '../english.ts';
import { errorOf } from '../errors.ts';

/** The function was sent something that is no command, or one with settings that it does not know. */
export class CommandInvalidError extends errorOf('command-invalid', 'ops') {
  readonly whatToDo = 'Correct the command: docs/commands.md describes each.';

  constructor(problems: readonly string[]) {
    super(`This is not a command: ${problems.join('; ')}.`);
  }
}

const day = z.iso.date();
const id = z.int().check(z.positive());
const instant = z.iso.datetime();
const kinds = z
  .array(z.enum(['created', 'updated', 'withdrawn', 'restored']))
  .check(z.minLength(1));

/**
 * Who asks, as the caller says: the ARN of the identity that the command line runs under. A claim;
 * CloudTrail knows who has invoked the function. An ARN has 2,048 printable ASCII characters at most.
 */
const by = z.optional(z.string().check(z.regex(/^[ -~]{1,2048}$/)));
/** Why, in a sentence, for those who read the status. Not for personal data: it is stored. */
const reason = z.string().check(z.trim(), z.minLength(1), z.maxLength(200));
/** Names the record of a command that goes on in several calls: part of `next`, or chosen by the caller. */
const operation = z.optional(z.string().check(z.maxLength(100)));

export const statusCommand = z.strictObject({
  command: z.literal('status'),
  /** `false`: the partner's total is not asked for. */
  partner: z._default(z.boolean(), true),
  /** Also the commands that changed something, newest first. */
  history: z._default(z.boolean(), false),
});

export const explainCommand = z.strictObject({
  command: z.literal('explain'),
  id,
  /** `false`: the partner is asked only about what the ledger does not know. */
  partner: z._default(z.boolean(), true),
});

const inOrder = { error: '`from` must not be after `to`' };

/** Assessments, or organizations, that one command may name. */
export const idsAtOnce = 1_000;
/** Of `certified_on`, that one command may name. */
export const yearsAtOnce = 200;

/** Calendar years that one certificate may tell of: it has a line a day, some 73,000 then. */
export const certificateYears = 200;

/** What is no day is told of by itself. */
export function fitsOneCertificate({ from, to }: { readonly from: string; readonly to: string }) {
  const isTooLong = yearOf(to) - yearOf(from) >= certificateYears;
  return !isTooLong;
}

const yearOf = (date: string) => Number(date.slice(0, 4));

export const proveCommand = z
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
    /** Days up to this one have been told of; part of `next`. */
    after: z.optional(day),
    operation,
  })
  .check(
    z.refine(({ from, to }) => from <= to, inOrder),
    z.refine(fitsOneCertificate, {
      error: `\`from\` and \`to\` must be within ${certificateYears} calendar years`,
    }),
  );

export const tickCommand = z.strictObject({ command: z.literal('tick'), by });
export const pauseCommand = z.strictObject({ command: z.literal('pause'), reason, by });
export const resumeCommand = z.strictObject({
  command: z.literal('resume'),
  reason: z.optional(reason),
  by,
});

/** `held`: by the gate. `undeliverable`: SNS has refused them for good. */
const waiting = z._default(z.enum(['held', 'undeliverable']), 'held');

/** Which of the events that wait for ops: whatever is not given does not restrict it. */
const keptSelection = {
  waiting,
  organizations: z.optional(z.array(id).check(z.minLength(1), z.maxLength(idsAtOnce))),
  /** Of `certified_on`. */
  years: z.optional(
    z
      .array(z.int().check(z.minimum(1), z.maximum(9999)))
      .check(z.minLength(1), z.maxLength(yearsAtOnce)),
  ),
  /** Types of the events. */
  types: z.optional(kinds),
  ids: z.optional(z.array(id).check(z.minLength(1), z.maxLength(idsAtOnce))),
  /** Only events that were committed by then: what has come since somebody looked is not meant. */
  until: z.optional(instant),
};

function isForAllOrNone(
  command: {
    readonly [Name in keyof typeof keptSelection | 'as' | 'forHours']?: unknown;
  },
): boolean {
  const { forHours, waiting, as, organizations, years, types, ids } = command;
  const isSelection = [organizations, years, types, ids].some((some) => some !== undefined);
  return forHours === undefined || (waiting === 'held' && as === 'events' && !isSelection);
}

/** Where an earlier call stopped; part of `next`. */
const keptCursor = z.optional(
  z.string().check(z.regex(/^(pending|digest|held|undeliverable)\/[\w:.-]+\/[1-9]\d{0,14}$/)),
);

export const holdsCommand = z.strictObject({
  command: z.literal('holds'),
  ...keptSelection,
  /** Also each event by itself. */
  list: z._default(z.boolean(), false),
  after: keptCursor,
});

/** Hours for which one command may let everything through. */
export const mostOpenHours = 72;

export const releaseCommand = z
  .strictObject({
    command: z.literal('release'),
    ...keptSelection,
    /** `digest`: people are told in one mail; subscribers' machines are not. */
    as: z._default(z.enum(['events', 'digest']), 'events'),
    eventsPerSecond: z._default(z.int().check(z.minimum(1), z.maximum(1_000)), 50),
    /** From now on, nothing new is held for so many hours; 0: the gate is as ever again. */
    forHours: z.optional(z.int().check(z.minimum(0), z.maximum(mostOpenHours))),
    by,
    after: keptCursor,
    operation,
  })
  .check(
    z.refine(isForAllOrNone, {
      error: '`forHours` lets everything through: it goes with no selection, and not with a digest',
    }),
  );

export const discardCommand = z.strictObject({
  command: z.literal('discard'),
  ...keptSelection,
  by,
  after: keptCursor,
  operation,
});

export const baselineCommand = z.strictObject({
  command: z.literal('baseline'),
  /** `false`: the partner's total is not asked for. */
  partner: z._default(z.boolean(), true),
});

export const restartBaselineCommand = z.strictObject({
  command: z.literal('restart-baseline'),
  reason: z.optional(reason),
  by,
});

/** More is missing than may be withdrawn, and the partner's total is right. */
export const acceptTotalCommand = z.strictObject({
  command: z.literal('accept-total'),
  /** What was looked at: accepted only if the partner still shows as many, within a tenth. */
  total: z.int().check(z.nonnegative()),
  reason: z.optional(reason),
  by,
});

export const checkCommand = z.strictObject({ command: z.literal('check') });

/** The secret has other credentials now: the partner is not left alone any longer. */
export const credentialsStoredCommand = z.strictObject({
  command: z.literal('credentials-stored'),
  /** `false`: they are about to be. It is noted who stores them, before it is done; `next` says that it was. */
  stored: z._default(z.boolean(), true),
  by,
  operation,
});

export const testEventCommand = z.strictObject({
  command: z.literal('test-event'),
  /** What filters look at; left out: invented. */
  organization_id: z.optional(z.int().check(z.positive())),
  assessment_name: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
  late: z._default(z.boolean(), false),
  by,
});

function isReplayCursor(cursor: string): boolean {
  const [reached, lastId = '1', ...more] = cursor.split('/');
  return day.safeParse(reached).success && /^[1-9]\d{0,14}$/.test(lastId) && more.length === 0;
}

/** What a replay may send again: whatever is not given does not restrict it. */
const selection = {
  /** Both included; open where one is absent. */
  days: z.optional(
    z
      .strictObject({ from: z.optional(day), to: z.optional(day) })
      .check(
        z.refine(({ from, to }) => from === undefined || to === undefined || from <= to, inOrder),
      ),
  ),
  ids: z.optional(z.array(id).check(z.minLength(1), z.maxLength(idsAtOnce))),
  organizations: z.optional(z.array(id).check(z.minLength(1), z.maxLength(idsAtOnce))),
  /** What the certification's last revision was. */
  types: z.optional(kinds),
};

export const replayCommand = z
  .strictObject({
    command: z.literal('replay'),
    ...selection,
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
    eventsPerSecond: z._default(z.int().check(z.minimum(1), z.maximum(1_000)), 50),
    /** At most so many events; in `next`, what is left of it. */
    limit: z.optional(z.int().check(z.positive())),
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
    z.refine((command) => Object.keys(selection).some((name) => name in command), {
      error: `at least one of ${Object.keys(selection).join(', ')} must say what to replay`,
    }),
  );

export const commandSchema = z.discriminatedUnion('command', [
  statusCommand,
  explainCommand,
  proveCommand,
  tickCommand,
  pauseCommand,
  resumeCommand,
  holdsCommand,
  releaseCommand,
  discardCommand,
  baselineCommand,
  restartBaselineCommand,
  acceptTotalCommand,
  checkCommand,
  credentialsStoredCommand,
  testEventCommand,
  replayCommand,
]);

export type Command = z.output<typeof commandSchema>;
export type CommandName = Command['command'];
export type CommandOf<Name extends CommandName> = Extract<Command, { command: Name }>;
/** What may be sent: settings with a default can be left out. */
export type CommandInput = z.input<typeof commandSchema>;

export type TestEventCommand = CommandOf<'test-event'>;
export type ReplayCommand = CommandOf<'replay'>;
/** Selects events that wait for ops. */
export type KeptSelection = Pick<
  CommandOf<'holds'>,
  'waiting' | 'organizations' | 'years' | 'types' | 'ids' | 'until'
>;

/** @throws CommandInvalidError naming every problem */
export function parseCommand(input: unknown): Command {
  const parsed = commandSchema.safeParse(input, inEnglish);
  if (parsed.success) return parsed.data;
  throw new CommandInvalidError(
    parsed.error.issues.map(({ path, message }) =>
      path.length > 0 ? `${path.join('.')}: ${message}` : message,
    ),
  );
}
