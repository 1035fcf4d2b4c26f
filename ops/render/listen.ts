import type { Envelope } from '../listening/envelope.ts';
import type { PostResult } from '../listening/post.ts';
import type { PostVerdict } from '../listening/verdict.ts';
import type { Tone, View } from './layout.ts';
import { counts } from './text.ts';
import { duration, moment } from './time.ts';

/** One post of a message, and its outcome. */
export interface Attempt {
  /** When it was answered. */
  readonly at: string;
  readonly envelope: Envelope;
  readonly answer: PostResult;
  readonly verdict: PostVerdict;
  /** From 1. */
  readonly attempt: number;
}

const labels: Readonly<Record<PostVerdict['outcome'], readonly [tone: Tone, label: string]>> = {
  delivered: ['good', 'delivered'],
  again: ['warning', 'again'],
  refused: ['bad', 'refused'],
  'given-up': ['bad', 'given up'],
};
const labelWidth = Math.max(...Object.values(labels).map(([, label]) => label.length));

/** On one line, without personal data. */
export function attemptLine(
  view: View,
  { at, envelope, answer, verdict, attempt }: Attempt,
): string {
  const { event, messageId } = envelope;
  const [tone, label] = labels[verdict.outcome];
  const facts = [
    ...(event ? [event.type, event.id] : ['no event', messageId]),
    answered(answer),
    ...afterwards(verdict, attempt),
  ];
  return `${view.paint('faint', moment(at, view))}  ${view.paint(tone, label.padEnd(labelWidth))}  ${facts.join(view.paint('faint', ' · '))}`;
}

function answered({ status, tookMs }: PostResult): string {
  if (status === 'too-late') return `no answer within ${duration(tookMs)}`;
  const took = `in ${duration(Math.max(1, tookMs))}`;
  return typeof status === 'number' ? `${status} ${took}` : `no answer (${status}) ${took}`;
}

function afterwards(verdict: PostVerdict, attempt: number): string[] {
  switch (verdict.outcome) {
    case 'delivered':
      return attempt > 1 ? [`attempt ${attempt}`] : [];
    case 'again':
      return [`offered again in ${verdict.inSeconds} s`];
    case 'refused':
      return ['SNS would not offer it again'];
    case 'given-up':
      return [`attempt ${attempt}, the last; SNS would go on for up to an hour`];
  }
}

/** The numbers at the end. */
export interface ListenTally {
  readonly delivered: number;
  readonly refused: number;
  readonly givenUp: number;
  /** Those that would have been offered again. */
  readonly notDelivered: number;
}

export function tallyLines({ delivered, refused, givenUp, notDelivered }: ListenTally): string[] {
  const sums = { delivered, refused, 'given up': givenUp, 'not delivered': notDelivered };
  return [`Subscription and queue are removed. Events: ${counts(sums)}.`];
}
