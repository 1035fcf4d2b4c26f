import * as z from 'zod';
import { NotifierError } from '../errors.ts';

/** The function was sent something that is no command, or one with settings that it does not know. */
class CommandInvalidError extends NotifierError {
  readonly code = 'command-invalid';
  readonly retryHelps = false;
  readonly whatToDo =
    'Correct the command: docs/commands.md describes each, docs/replay.md those that send events.';

  constructor(problems: readonly string[]) {
    super(`This is not a command: ${problems.join('; ')}.`);
  }
}

const day = z.iso.date();
const id = z.int().positive();
const instant = z.iso.datetime();
const kinds = z.array(z.enum(['created', 'updated', 'withdrawn', 'restored'])).min(1);

/**
 * Who asks, as the caller says: the ARN of the identity that the command line runs under. A claim;
 * CloudTrail knows who has invoked the function.
 */
const by = z
  .string()
  .regex(/^[\w:/.@+=, -]{1,300}$/)
  .optional();
/** Why, in a sentence, for those who read the status. Not for personal data: it is stored. */
const reason = z.string().trim().min(1).max(200);
/** Names the record of a command that goes on in several calls; part of `next`. */
const operation = z.string().max(100).optional();

export const statusCommand = z.strictObject({
  command: z.literal('status'),
  /** `false`: the partner's total is not asked for. */
  partner: z.boolean().default(true),
  /** Also the commands that changed something, newest first. */
  history: z.boolean().default(false),
});

export const explainCommand = z.strictObject({
  command: z.literal('explain'),
  id,
  /** `false`: the partner is asked only about what the ledger does not know. */
  partner: z.boolean().default(true),
});

export const proveCommand = z.strictObject({
  command: z.literal('prove'),
  /** Both included. */
  from: day,
  to: day,
  /** Reads all of them again first, and announces what differs. */
  now: z.boolean().default(false),
  by,
  /** When the first of several calls began: what was read since is done; part of `next`. */
  since: instant.optional(),
  /** Days up to this one have been told of; part of `next`. */
  after: day.optional(),
  operation,
});

export const tickCommand = z.strictObject({ command: z.literal('tick'), by });
export const pauseCommand = z.strictObject({ command: z.literal('pause'), reason, by });
export const resumeCommand = z.strictObject({
  command: z.literal('resume'),
  reason: reason.optional(),
  by,
});

/** `held`: by the flood guard. `undeliverable`: SNS has refused them for good. */
const waiting = z.enum(['held', 'undeliverable']).default('held');

/** Which of the events that wait for ops: whatever is not given does not restrict it. */
const keptSelection = {
  waiting,
  organizations: z.array(id).min(1).max(1_000).optional(),
  /** Of `certified_on`. */
  years: z.array(z.int().min(1).max(9999)).min(1).max(200).optional(),
  /** Types of the events. */
  types: kinds.optional(),
  ids: z.array(id).min(1).max(1_000).optional(),
  /** Only events that were committed by then: what has come since somebody looked is not meant. */
  until: instant.optional(),
};

/** Where an earlier call stopped; part of `next`. */
const keptCursor = z
  .string()
  .regex(/^(pending|digest|held|undeliverable)\/[\w:.-]*$/)
  .optional();

export const holdsCommand = z.strictObject({
  command: z.literal('holds'),
  ...keptSelection,
  after: keptCursor,
});

export const releaseCommand = z.strictObject({
  command: z.literal('release'),
  ...keptSelection,
  /** `digest`: people are told in one mail; subscribers' machines are not. */
  as: z.enum(['events', 'digest']).default('events'),
  eventsPerSecond: z.int().min(1).max(1_000).default(50),
  by,
  after: keptCursor,
  operation,
});

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
  partner: z.boolean().default(true),
});

export const restartBaselineCommand = z.strictObject({
  command: z.literal('restart-baseline'),
  reason: reason.optional(),
  by,
});

/** The partner's total has fallen by more than half, and that is right. */
export const acceptTotalCommand = z.strictObject({
  command: z.literal('accept-total'),
  /** What was looked at: accepted only if the partner still shows as many, within a tenth. */
  total: z.int().nonnegative(),
  reason: reason.optional(),
  by,
});

export const checkCommand = z.strictObject({ command: z.literal('check') });

/** The secret has other credentials now: the partner is not left alone any longer. */
export const credentialsStoredCommand = z.strictObject({
  command: z.literal('credentials-stored'),
  by,
});

export const testEventCommand = z.strictObject({
  command: z.literal('test-event'),
  /** What filters look at; left out: invented. */
  organization_id: z.int().positive().optional(),
  assessment_name: z.string().min(1).max(200).optional(),
  late: z.boolean().default(false),
});

/** What a replay may send again: whatever is not given does not restrict it. */
const selection = {
  /** Both included; open where one is absent. */
  days: z.strictObject({ from: day.optional(), to: day.optional() }).optional(),
  ids: z.array(id).min(1).max(1_000).optional(),
  organizations: z.array(id).min(1).max(1_000).optional(),
  /** What the certification's last revision was. */
  types: kinds.optional(),
};

export const replayCommand = z
  .strictObject({
    command: z.literal('replay'),
    ...selection,
    /** Also what the baseline recorded and nobody was ever told of: for a subscriber that starts from nothing. */
    baseline: z.boolean().default(false),
    /** Absent: to the topic, and so to every subscriber. */
    to: z
      .strictObject({
        /** ARN of an SQS queue that the function may send to. */
        queue: z.string().regex(/^arn:aws[\w-]*:sqs:[a-z0-9-]+:\d{12}:[\w-]{1,80}(\.fifo)?$/),
      })
      .optional(),
    eventsPerSecond: z.int().min(1).max(1_000).default(50),
    /** At most so many events by this call. */
    limit: z.int().positive().optional(),
    /** Counts what would be sent. */
    dryRun: z.boolean().default(false),
    /** Where an earlier call stopped: `<day>/<id>` or `<day>`, everything up to which is done. */
    after: z
      .string()
      .regex(/^\d{4}-\d\d-\d\d(\/[1-9]\d*)?$/)
      .optional(),
    by,
    operation,
  })
  .refine((command) => Object.keys(selection).some((name) => name in command), {
    error: `at least one of ${Object.keys(selection).join(', ')} must say what to replay`,
  });

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
  const parsed = commandSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new CommandInvalidError(
    parsed.error.issues.map(({ path, message }) =>
      path.length > 0 ? `${path.join('.')}: ${message}` : message,
    ),
  );
}
