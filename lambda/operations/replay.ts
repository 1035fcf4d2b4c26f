import pMap from 'p-map';
import type { Assessment } from '../events/assessment.ts';
import type { Announcer } from '../ports/announcer.ts';
import type { Life } from '../ports/ledger.ts';
import { noneOfAnyKind } from './contract/common.ts';
import type { CommandOf } from './contract.ts';
import { EventsRefusedError } from './errors.ts';
import { recordedState } from './lease.ts';
import { atPace } from './pace.ts';
import type { Call, Carrier, OperationParts } from './parts.ts';
import { obstacleOf, replayedEvent } from './replayed-event.ts';
import { cursorAt, type Slice, slices } from './selection.ts';

/** Certifications whose events are sent together; never more than a second's worth. */
const sentTogether = 100;
/** Requests to the partner at once, where records are asked for by id. */
const requestsAtOnce = 4;

/** What was sent, and of what nothing was. */
const noneYet = () => ({
  events: 0,
  byType: noneOfAnyKind(),
  skipped: {
    changed: 0,
    pending: 0,
    held: 0,
    undeliverable: 0,
    discarded: 0,
    neverAnnounced: 0,
    unreadable: 0,
    withoutHistory: 0,
    refused: 0,
    unknown: 0,
  },
});

/**
 * Sends events of the past again: rebuilt from the partner's records, under the ids, times and types
 * that the ledger has recorded. It only reads: outboxes and state belong to the ticks, and ticks may
 * run meanwhile.
 *
 * It goes on by day and id and stops between two sends, so the cursor loses nothing. After a failure
 * in the middle of a send, that one is sent again.
 */
export const replay: Carrier<'replay'> = async (parts, command, call) => {
  const { limit, killedAt, operation } = call;
  const { dryRun, eventsPerSecond: perSecond } = command;
  const target = targetOf(parts, command);
  const pace = { perSecond, clock: parts.clock, killedAt };
  const { salt, years } = await recordedState(parts);
  const sums = noneYet();
  let after = command.after;
  /** Out of time, if only in the middle of a request, is no failure. */
  const stopped = (failure?: unknown) => {
    const result = { dryRun, ...sums, next: { ...command, operation, after } };
    if (limit.noteIfReached() && after !== command.after) return { result };
    return { result, failure };
  };
  try {
    for await (const slice of slices(parts.ledger, years, command)) {
      const find = reader(parts, command, slice, limit);
      for (const lives of portions(slice.lives, perSecond)) {
        if (limit.noteIfReached()) return stopped();
        await atPace(pace, async () => {
          const events = await rebuilt(parts, command, lives, find, salt);
          return await sendTogether(events, target, limit, sums);
        });
        after = lives.map(cursorAt).at(-1);
      }
      after = slice.end;
      // Also where nothing is selected: to look through a long history takes time by itself.
      if (limit.noteIfReached()) return stopped();
      sums.skipped.unknown += slice.unknown;
    }
    return { result: { dryRun, ...sums } };
  } catch (failure) {
    const hasBegun = after !== command.after || failure instanceof EventsRefusedError;
    if (!hasBegun) throw failure;
    return stopped(failure);
  }
};

/** None in a dry run. */
function targetOf(parts: OperationParts, { dryRun, to }: CommandOf<'replay'>) {
  if (dryRun) return undefined;
  return to === undefined ? parts.announcer : parts.queue(to.queue);
}

type Limit = Call['limit'];
/** The partner's record of a certification; `undefined` when it is gone. */
type Find = (id: number) => Promise<Assessment | 'unreadable' | undefined>;
type Rebuilt = ReturnType<typeof replayedEvent>;

/** Whether it takes the partner's record to rebuild its event. */
const isNeeded = (life: Life, command: CommandOf<'replay'>) =>
  life.certification.presence === 'present' && obstacleOf(life, command) === undefined;

function* portions(lives: readonly Life[], perSecond: number) {
  const many = Math.min(sentTogether, perSecond);
  for (let from = 0; from < lives.length; from += many) yield lives.slice(from, from + many);
}

/** Records read as a range, once one is asked for, if that takes fewer requests than asking for each by its id. */
function reader(
  { partner }: OperationParts,
  command: CommandOf<'replay'>,
  { lives, read }: Slice,
  limit: Limit,
): Find {
  const byId: Find = (id) => partner.get(id, limit.deadline);
  const needed = lives.filter((life) => isNeeded(life, command));
  if (read === undefined || needed.length <= read.requests) return byId;
  const readRange = async () => {
    const { assessments, quarantined, proof } = await partner.prove(
      read.range,
      limit.readingDeadline,
    );
    const seen = new Map<number | undefined, Assessment | 'unreadable'>([
      ...quarantined.map(({ id }) => [id, 'unreadable'] as const),
      ...assessments.map((assessment) => [assessment.id, assessment] as const),
    ]);
    // Only a proof says that what was not seen is not there.
    return (id: number) => seen.get(id) ?? (proof === undefined ? byId(id) : undefined);
  };
  let range: ReturnType<typeof readRange> | undefined;
  return async (id) => {
    range ??= readRange();
    return (await range)(id);
  };
}

/** Of each its event, or what stands against it. */
function rebuilt(
  { settings }: OperationParts,
  command: CommandOf<'replay'>,
  lives: readonly Life[],
  find: Find,
  salt: string,
): Promise<Rebuilt[]> {
  return pMap(
    lives,
    async (life) => {
      const record = isNeeded(life, command) ? await find(life.certification.id) : undefined;
      return obstacleOf(life, command) ?? replayedEvent(life, record, salt, settings);
    },
    { concurrency: requestsAtOnce },
  );
}

/**
 * @param target none: what would be sent is counted
 * @param sums what was sent, and what was not, is added
 * @returns how many were sent
 * @throws EventsRefusedError unless the target will never take an event as it is
 */
async function sendTogether(
  events: readonly Rebuilt[],
  target: Pick<Announcer, 'publish'> | undefined,
  limit: Limit,
  sums: ReturnType<typeof noneYet>,
): Promise<number> {
  const owed = events.flatMap((event) => (typeof event === 'object' ? [event.owed] : []));
  const sent = owed.length > 0 ? await target?.publish(owed, limit.deadline) : undefined;
  const { refused = [] } = sent ?? {};
  const [first, ...others] = refused.filter(({ forGood = false }) => !forGood);
  if (first !== undefined) throw new EventsRefusedError(others.length + 1, first.code);
  const refusedForGood = new Set(refused.map(({ owed }) => owed));
  for (const event of events) {
    if (typeof event === 'string') sums.skipped[event] += 1;
    else if (refusedForGood.has(event.owed)) sums.skipped.refused += 1;
    else {
      sums.events += 1;
      sums.byType[event.kind] += 1;
    }
  }
  return sent === undefined ? 0 : owed.length;
}
