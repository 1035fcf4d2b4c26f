import * as z from 'zod';
import { id, selection } from '../../lambda/commands/shapes.ts';
import { setting } from '../../lambda/commands/words.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Envelope, readEnvelope } from '../listening/envelope.ts';
import { post } from '../listening/post.ts';
import { targetUrl } from '../listening/target-url.ts';
import { mostAttempts, type PostVerdict, verdictOf } from '../listening/verdict.ts';
import { opsCommand } from '../ops-command.ts';
import { type Attempt, attemptLine, type ListenTally, tallyLines } from '../render/listen.ts';
import { given, jsonLine } from '../render/text.ts';
import type { Session } from '../session.ts';
import type { Access } from '../target/access.ts';
import { attemptsOf } from '../watching/attempts.ts';
import {
  type QueuedMessage,
  type Subscribed,
  sweep,
  TemporaryQueue,
} from '../watching/temporary-queue.ts';

/** The pause after a failed read of the queue. */
const triedAgainMs = 2_000;
/** The most that SQS returns at once. */
const atOnce = 10;

type Outcome = PostVerdict['outcome'];

export const listen = opsCommand({
  usage: 'listen',
  isEndless: true,
  permissions:
    '`sns:Subscribe`, `sns:Unsubscribe`, `sns:ListSubscriptionsByTopic` on the events topic; `sqs:ListQueues`; and on queues named `certification-notifier-listen-*`: `sqs:CreateQueue`, `sqs:DeleteQueue`, `sqs:GetQueueUrl`, `sqs:GetQueueAttributes`, `sqs:SetQueueAttributes`, `sqs:ReceiveMessage`, `sqs:DeleteMessage`, `sqs:ChangeMessageVisibility`, `sqs:TagQueue`, `sqs:ListQueueTags`. It starts no function',
  summary: 'Posts each event to a URL of yours as SNS would, while you develop a webhook.',
  details: `The body is SNS's own envelope, byte for byte, with SNS's headers. After a failed connection, 15 seconds without an answer, 429 or 5xx, the event is offered again, ${mostAttempts} times at most; any other 4xx is final, as it is for SNS. Events come through a temporary queue, which is removed at the end. If a crash leaves the queue behind, a run of listen removes it once it is twenty minutes old. Shows no personal data, but the URL gets all of it: so it has to be https, or http on this machine. With --json: first {"listening": …}, then {"post": …} for each post, last {"ended": {delivered, refused, givenUp, notDelivered}}. Ctrl-C is the regular end, with exit code 0. With --count, no event after these is posted; it ends once each is delivered, refused or given up, and with 1 if one was not delivered. Ten posts at most are under way, so a webhook that is slow gets later ones than from SNS. docs/subscribing.md says how a webhook verifies the signatures of the local instance.`,
  examples: [
    ['listen --local --forward-to http://localhost:8080/hook', 'events of npm start'],
    [
      'listen --stack staging --forward-to http://localhost:8080/hook --count 1',
      'the next event of a deployment, then the end',
    ],
  ],
  own: z.object({
    forwardTo: setting(z.instanceof(URL), 'where your webhook answers', {
      value: 'url',
      read: targetUrl,
    }),
    count: setting(z.optional(id), 'end after so many events'),
    type: setting(selection.types, 'only events of these types; test events always come'),
  }),
  async run(session, { forwardTo, count = Number.POSITIVE_INFINITY, type: kinds }) {
    const { access, topics, integrations } = await session.target();
    const clients = await session.operateClients();
    const [only] = clients.length < integrations.length ? clients : [];
    const subscribed: Subscribed = {
      owner: 'listen',
      topicArn: topics.events,
      integration: only?.integration.name,
      types: kinds && [...kinds, 'test'].map((kind) => `certification.${kind}`),
      isRaw: false,
    };
    const swept = await sweep(access, subscribed, session.clock);
    const tally = await forwardAll(session, { access, subscribed, forwardTo, count, swept });
    if (session.json) session.terminal.print([jsonLine({ ended: tally })]);
    session.note(() => tallyLines(tally));
    const isShort = tally.refused + tally.givenUp > 0 && !session.stop.aborted;
    return isShort ? exitCodes.problem : exitCodes.fine;
  },
});

interface Forwarding {
  readonly access: Access;
  readonly subscribed: Subscribed;
  readonly forwardTo: URL;
  /** Ends after so many events. */
  readonly count: number;
  /** Leftovers of earlier runs that were removed. */
  readonly swept: number;
}

/** @returns the outcomes, counted, once subscription and queue are removed */
async function forwardAll(session: Session, forwarding: Forwarding): Promise<ListenTally> {
  const { access, subscribed, forwardTo, count } = forwarding;
  const { stop, clock } = session;
  /** By message; a later attempt replaces the outcome. */
  const outcomes = new Map<string, Outcome>();
  await using queue = await TemporaryQueue.create(access, subscribed, clock);
  announce(session, forwarding);
  const attempt = attemptsOf(session);
  const forwarded = async (message: QueuedMessage): Promise<void> => {
    const envelope = readEnvelope(message.body);
    if (envelope === undefined) {
      session.terminal.note(['Ignored a message that is no notification of SNS.']);
      return queue.delete(message);
    }
    const { messageId } = envelope;
    // One too many stays in the queue, and is removed with it.
    if (outcomes.size >= count && !outcomes.has(messageId)) return;
    // Owed until the webhook answers.
    outcomes.set(messageId, 'again');
    outcomes.set(messageId, await offer(session, { message, envelope, queue, forwardTo }));
  };
  // Each post goes on by itself: one that hangs holds up no other.
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const begin = (message: QueuedMessage) => {
    const one = forwarded(message)
      .catch((error) => void failures.push(error))
      .finally(() => underWay.delete(one));
    underWay.add(one);
  };
  while (!stop.aborted && settled(outcomes) < count) {
    const isRead = await attempt(async () => {
      const isNoneToCome =
        outcomes.size >= count && tallyOf(outcomes).notDelivered <= underWay.size;
      if (!isNoneToCome && underWay.size < atOnce)
        for (const message of await queue.receive(stop, atOnce - underWay.size)) begin(message);
      else await Promise.race(underWay);
      if (failures.length > 0) throw failures.shift();
      await queue.keep();
    });
    if (!isRead) await clock.sleep(triedAgainMs, stop).catch(() => {});
  }
  // Without the queue, they would fail.
  await Promise.all(underWay);
  return tallyOf(outcomes);
}

interface Offer {
  readonly message: QueuedMessage;
  readonly envelope: Envelope;
  readonly queue: TemporaryQueue;
  readonly forwardTo: URL;
}

/** Posts a message once. */
async function offer(
  { terminal, json, stop, clock }: Session,
  { message, envelope, queue, forwardTo: to }: Offer,
): Promise<Outcome> {
  const { subscriptionArn } = queue;
  const answer = await post(message.body, envelope, { to, subscriptionArn, clock, stop });
  const verdict = verdictOf(answer, message.receptions);
  if (verdict.outcome === 'again') await queue.putOff(message, verdict.inSeconds);
  else await queue.delete(message);
  const at = clock.now().toString();
  const attempt: Attempt = { at, envelope, answer, verdict, attempt: message.receptions };
  terminal.print([json ? jsonLine({ post: attempt }) : attemptLine(terminal.view(), attempt)]);
  return verdict.outcome;
}

function announce(session: Session, { access, subscribed, forwardTo, swept }: Forwarding): void {
  const { topicArn, integration = 'all integrations' } = subscribed;
  // Only origin and path: the query may hold a token, and the user part a password.
  const to = `${forwardTo.origin}${forwardTo.pathname}`;
  if (session.json) session.terminal.print([jsonLine({ listening: { topicArn, to } })]);
  session.note((view) =>
    given(
      `Posting events of ${integration} to ${to}; Ctrl-C ends it.`,
      `Their topic: ${topicArn}`,
      topicArn.endsWith('.fifo') && 'It is a FIFO topic, which SNS itself delivers to no URL.',
      access.isLocal &&
        `The local instance signs events; its certificate is at ${access.settings('sns').endpoint}: docs/subscribing.md says how a webhook verifies them.`,
      swept > 0 && `Removed leftovers of earlier runs: ${swept}.`,
    ).map((line) => view.paint('faint', line)),
  );
}

function tallyOf(outcomes: ReadonlyMap<string, Outcome>): ListenTally {
  const counted = (outcome: Outcome) =>
    [...outcomes.values()].filter((one) => one === outcome).length;
  return {
    delivered: counted('delivered'),
    refused: counted('refused'),
    givenUp: counted('given-up'),
    notDelivered: counted('again'),
  };
}

const settled = (outcomes: ReadonlyMap<string, Outcome>) =>
  outcomes.size - tallyOf(outcomes).notDelivered;
