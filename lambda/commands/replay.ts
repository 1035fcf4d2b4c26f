import pMap from 'p-map';
import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { recentWindow } from '../decisions/days.ts';
import { isAsIn } from '../decisions/fingerprint.ts';
import { certificationEvent } from '../events/event.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { PublishOutcome } from '../ports/announcer.ts';
import { deadlineOf } from '../tick/time.ts';
import { define } from './definition.ts';
import { EventsRefusedError, StalledError } from './errors.ts';
import { recordedState } from './lease.ts';
import type { OperationParts } from './parts.ts';
import { inPortions } from './portions.ts';
import {
  cursorAt,
  type Find,
  type Obstacle,
  obstacles,
  type ReplayGroup,
  replayGroups,
  replaySelection,
  type SelectedCertification,
} from './selection.ts';
import { byKind, count, day, eventsPerSecond, next, noneOfAnyKind, recorded } from './shapes.ts';
import { flag, worded } from './words.ts';

function isReplayCursor(cursor: string): boolean {
  const [reached, lastId = '1', ...more] = cursor.split('/');
  return day.safeParse(reached).success && /^[1-9]\d{0,14}$/.test(lastId) && more.length === 0;
}

export const queueArn = worded(
  z.string().check(z.regex(/^arn:aws[\w-]*:sqs:[a-z0-9-]+:\d{12}:[\w-]{1,80}(\.fifo)?$/)),
  {
    value: 'arn',
    allowed: 'the ARN of an SQS queue, such as arn:aws:sqs:us-east-1:111122223333:certifications',
  },
);

const command = z
  .strictObject({
    command: z.literal('replay'),
    ...replaySelection,
    /**
     * Also certifications that the baseline recorded and that were never announced, for a
     * subscriber that starts from nothing.
     */
    baseline: flag('also certifications that the baseline recorded without an event'),
    /** Absent: to the topic, and so to every subscriber. */
    to: z.optional(
      z.strictObject({
        /** The function may send to it. */
        queue: queueArn,
      }),
    ),
    eventsPerSecond,
    dryRun: flag('count the events, and send none'),
    /** Where an earlier call stopped: `<day>/<id>` or `<day>`, everything up to which is done. */
    after: z.optional(
      z.string().check(z.refine(isReplayCursor, { error: 'must be `<day>/<id>` or `<day>`' })),
    ),
    ...recorded,
  })
  .check(
    z.refine((command) => Object.keys(replaySelection).some((name) => name in command), {
      error: `at least one of ${Object.keys(replaySelection).join(', ')} must select certifications`,
    }),
  );

/** Certifications whose events are sent together; never more than a second's worth. */
const sentTogether = 100;
/** Requests to the partner at once, where records are asked for by id. */
const requestsAtOnce = 4;

/**
 * Sends past events again: rebuilt from the partner's records, under the ids, times and types that
 * the ledger has recorded. It only reads: outboxes and state belong to the ticks, and ticks may run
 * meanwhile.
 *
 * It goes on by day and id and stops between two sends, so the cursor loses nothing. After a
 * failure in the middle of a send, that one is sent again.
 */
export const replay = define({
  does: 'Sends events of the past again, to the topic or to one queue.',
  command,
  result: z.object({
    dryRun: z.boolean(),
    /** Events that were sent; in a dry run, that would have been. */
    events: count,
    byType: byKind,
    /** Selected certifications for which nothing was sent, by reason. */
    skipped: z.partialRecord(obstacles, count),
    next,
  }),
  changes: ({ dryRun }) => !dryRun,
  hasChanged: ({ events }) => events > 0,
  seenIn:
    'status --history shows how far it has got. To resume from here repeats events, under the same ids.',
  async carry(parts, command, call) {
    const { dryRun, to, after, eventsPerSecond: perSecond } = command;
    const { time, operation } = call;
    const target = to === undefined ? parts.announcer : parts.queue(to.queue);
    const { salt, years } = await recordedState(parts);
    const sums = { events: 0, byType: noneOfAnyKind() };
    const skipped: Partial<Record<Obstacle, number>> = {};
    const skip = (reason: Obstacle, many = 1) => {
      if (many > 0) skipped[reason] = (skipped[reason] ?? 0) + many;
    };
    const send = async (items: readonly SelectedCertification[], { find }: ReplayGroup) => {
      const options = { concurrency: requestsAtOnce };
      const events = await pMap(
        items,
        (item) => rebuilt(item, find, salt, parts.settings),
        options,
      );
      const owed = events.flatMap((event) => (typeof event === 'object' ? [event.owed] : []));
      const outcome = dryRun ? { refused: [] } : await target.publish(owed, deadlineOf(time));
      const refusedForGood = forGood(outcome);
      skip('refused', refusedForGood.size);
      for (const event of events) {
        if (typeof event === 'string') skip(event);
        else if (!refusedForGood.has(event.owed)) {
          sums.events += 1;
          sums.byType[event.kind] += 1;
        }
      }
      return dryRun ? 0 : owed.length;
    };
    const together = Math.min(sentTogether, perSecond);
    const selected = replayGroups(parts, years, command, time, (many) => skip('unknown', many));
    const portioning = { after, together, perSecond, done: send, cursorAt };
    const stop = await inPortions(parts, call, portioning, selected);
    const failure = stop?.failure;
    // A failure before anything was sent leaves nothing to resume.
    const isTold = failure instanceof EventsRefusedError || failure instanceof StalledError;
    if (failure !== undefined && stop?.after === after && !isTold) throw failure;
    const next = stop && { ...command, operation, after: stop.after };
    return { result: { dryRun, ...sums, skipped, next }, failure };
  },
});

/** @throws EventsRefusedError unless the target will never take an event as it is */
function forGood({
  refused,
  denial,
}: Pick<PublishOutcome, 'refused' | 'denial'>): ReadonlySet<OwedEvent> {
  const [first, ...others] = refused.filter(({ forGood = false }) => !forGood);
  if (first !== undefined) throw new EventsRefusedError(others.length + 1, first.code, denial);
  return new Set(refused.map(({ owed }) => owed));
}

/**
 * The event of a certification's last revision as it was announced, marked as a replay, or the
 * obstacle to it.
 *
 * A withdrawal is rebuilt from the ledger alone. Any other event needs the partner's record, which
 * must not have changed since: nothing else is ever sent under an id that has been used.
 */
async function rebuilt(
  { life, last, kind, obstacle }: SelectedCertification,
  find: Find,
  salt: string,
  settings: OperationParts['settings'],
) {
  if (obstacle !== undefined) return obstacle;
  if (last === undefined || kind === undefined) return 'withoutHistory';
  const { id, day, fingerprint, organization_id, assessment_name } = life.certification;
  const { revision } = last;
  const gone = { id, organization_id, assessment_name, certified_on: day };
  const record = kind === 'withdrawn' ? gone : await find(id);
  if (record === 'unreadable') return record;
  const isAnnounced = record === gone || (record && isAsIn(record, fingerprint.whole, salt));
  if (!isAnnounced) return 'changed';
  const at = Temporal.Instant.from(last.at);
  const event = certificationEvent({
    integration: settings.name,
    type: `certification.${kind}`,
    assessment: record,
    fields: settings.fields,
    revision,
    // As it was announced. If that is not known, by today's settings, which may be others.
    late: last.late ?? day < recentWindow(at, settings.timeZone, settings.recentDays).from,
    time: at,
    changed: last.changed,
    replay: true,
  });
  const owed = { certificationId: id, revision, owes: 'event-and-digest' } as const;
  return { kind, owed: { ...owed, event } };
}
