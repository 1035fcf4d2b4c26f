import * as z from 'zod';
import { NotifierError } from '../errors.ts';

/** The function was sent something that is no command, or one with settings that it does not know. */
class CommandInvalidError extends NotifierError {
  readonly code = 'command-invalid';
  readonly retryHelps = false;
  readonly whatToDo = 'Correct the command: docs/replay.md describes each with an example.';

  constructor(problems: readonly string[]) {
    super(`This is not a command: ${problems.join('; ')}.`);
  }
}

const day = z.iso.date();
const id = z.int().positive();

const testEvent = z.strictObject({
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
  types: z
    .array(z.enum(['created', 'updated', 'withdrawn', 'restored']))
    .min(1)
    .optional(),
};

const replay = z
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
  })
  .refine((command) => Object.keys(selection).some((name) => name in command), {
    error: `at least one of ${Object.keys(selection).join(', ')} must say what to replay`,
  });

export const commandSchema = z.discriminatedUnion('command', [testEvent, replay]);

export type Command = z.output<typeof commandSchema>;
export type TestEventCommand = z.output<typeof testEvent>;
export type ReplayCommand = z.output<typeof replay>;

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
