import type { Message } from '@aws-sdk/client-sqs';
import { eventIn } from '../mails-and-events.ts';
import type { TimetableChange } from '../partner-sandbox/timetable.ts';

/** An event from the queue. */
export interface QueuedEvent {
  readonly id: string;
  /** The type without its prefix: `created`. */
  readonly type: string;
  /** The id of the assessment. */
  readonly about: number;
  /** The organization of the assessment. */
  readonly organizationId: number | null;
  /** The revision of the certification. */
  readonly revision: number;
  /** When the change was noticed, in epoch milliseconds. */
  readonly at: number;
}

/** A message from the queue: an event, or something else. */
export type Heard = QueuedEvent | { readonly messageId: string };

/** Anybody who may send to the queue can send something else than an event. */
export function heardIn({ MessageId: messageId = '', Body = '' }: Message): Heard {
  const event = eventIn(Body);
  if (event === undefined) return { messageId };
  const { id, type, subject, time, sequence, data } = event;
  return {
    id,
    type: type.replace('certification.', ''),
    about: Number(subject),
    organizationId: data.assessment.organization_id,
    revision: Number(sequence),
    at: Date.parse(time),
  };
}

/** The types of events that report each kind of change. The first is the usual one. */
const tellingOf: Readonly<Record<TimetableChange['kind'], readonly string[]>> = {
  completed: ['created'],
  backdated: ['created'],
  edited: ['updated', 'created'],
  removed: ['withdrawn'],
  restored: ['restored', 'created'],
};

export function tells(change: TimetableChange, event: QueuedEvent): boolean {
  const { type, about, organizationId } = event;
  if (about !== change.id || !tellingOf[change.kind].includes(type)) return false;
  if (change.kind === 'restored' && type === 'created') return isFirstSight(change, event);
  return (change.organizationId ?? organizationId) === organizationId;
}

/**
 * A restored assessment is created if it was away during the baseline: nobody was told of it before. An edited one is
 * created if it was edited before the notifier first saw it: its event has the edit already.
 */
const isFirstSight = (change: TimetableChange, { revision, at }: QueuedEvent): boolean =>
  revision === 1 && at >= change.at;

/** The changes without an event, in order. */
export function untold(
  due: readonly TimetableChange[],
  heard: readonly QueuedEvent[],
): TimetableChange[] {
  return due.filter((change) => !heard.some((event) => tells(change, event)));
}

/**
 * False events and second ones; there should be none. Each kind of change happens to an assessment once, so a second id
 * of a type is a second event. The same id again is a repeated delivery, which is allowed.
 *
 * @param happened every change so far
 */
export function falsehoods(
  happened: readonly TimetableChange[],
  heard: readonly QueuedEvent[],
): string[] {
  const changes = Map.groupBy(happened, ({ id }) => id);
  const wrong = new Map<string, string>();
  const first = new Map<string, string>();
  // Test events belong to no assessment.
  for (const event of heard.filter(({ about }) => !Number.isNaN(about))) {
    const { id, type, about } = event;
    const isTrue = changes.get(about)?.some((change) => tells(change, event)) ?? false;
    const before = first.get(`${about}/${type}`) ?? id;
    first.set(`${about}/${type}`, before);
    if (!isTrue) wrong.set(id, `${id} says ${type}, and nothing like it has happened`);
    else if (before !== id) wrong.set(id, `${id} says ${type}, as ${before} has before`);
  }
  return [...wrong.values()];
}

/** A day of a certificate (`prove`). */
interface Certified {
  readonly day: string;
  readonly state: string;
  readonly count: number;
  readonly since?: number | undefined;
}

/**
 * Past days without a proof, or with another number than in the world.
 *
 * @param inWorld the number of certifications by day
 * @param moving days of recent changes
 */
export function wrongDays(
  certificate: readonly Certified[],
  inWorld: ReadonlyMap<string, number>,
  moving: ReadonlySet<string>,
): string[] {
  return certificate.flatMap(({ day, state, count, since = 0 }) => {
    if (moving.has(day) || state === 'not-yet') return [];
    const [known, there] = [count + since, inWorld.get(day) ?? 0];
    if (known !== there) return [`${day}: ${known} known, ${there} in the world`];
    return state === 'unproven' ? [`${day}: unproven`] : [];
  });
}
