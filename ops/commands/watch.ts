import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import type { ResultOf } from '../../lambda/commands/contract.ts';
import type { Reason } from '../../lambda/commands/status.ts';
import { flag } from '../../lambda/commands/words.ts';
import { certificationEventSchema } from '../../lambda/events/event.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { given, harmlessJson, jsonLine } from '../render/text.ts';
import { eventGist, eventLine, noticeLine, tickLine } from '../render/watch.ts';
import type { Session } from '../session.ts';
import type { OperateClient } from '../target/operate-client.ts';
import { type Attempt, attemptsOf } from '../watching/attempts.ts';
import { sweep, TemporaryQueue } from '../watching/temporary-queue.ts';

type Status = ResultOf<'status'>;

const statusEveryMs = 10_000;
/** The pause after a failed read of the queue, about as long as an empty read takes. */
const triedAgainMs = 2_000;

export const watch = opsCommand({
  usage: 'watch',
  isEndless: true,
  permissions:
    '`sns:Subscribe`, `sns:Unsubscribe`, `sns:ListSubscriptionsByTopic` on the events topic; `sqs:ListQueues`; and on queues named `certification-notifier-watch-*`: `sqs:CreateQueue`, `sqs:DeleteQueue`, `sqs:GetQueueUrl`, `sqs:GetQueueAttributes`, `sqs:SetQueueAttributes`, `sqs:ReceiveMessage`, `sqs:DeleteMessage`, `sqs:TagQueue`, `sqs:ListQueueTags`',
  summary: 'Follows events and ticks live, until Ctrl-C.',
  details:
    'A tick shows once it has ended; if none ends for three periods, that is said. Events come through a temporary queue, which is removed at the end. If a crash leaves the queue behind, a run of watch removes it once it is twenty minutes old. Shows no personal data. With --json, each line is {"event": …} or {"tick": …}; begun and over of a tick hold the reasons of status. Ctrl-C is the regular end, with exit code 0.',
  examples: [
    ['watch --stack prod', 'what is going on?'],
    ['watch --stack prod --integration district-a', 'one integration only'],
  ],
  own: z.object({ eventsOnly: flag('do not ask for ticks') }),
  async run(session, { eventsOnly }) {
    const { access, topics, integrations } = await session.target();
    // Not patient: to wait for one function would delay the events, and the next look is soon.
    const clients = await session.operateClients({ isPatient: false });
    const [only] = clients.length < integrations.length ? clients : [];
    const watched = {
      owner: 'watch',
      topicArn: topics.events,
      integration: only?.integration.name,
      isRaw: true,
    } as const;
    const swept = await sweep(access, watched, session.clock);
    await using queue = await TemporaryQueue.create(access, watched, session.clock);
    const names = clients.map(({ integration }) => integration.name).join(', ');
    session.note((view) =>
      given(
        `Watching ${names}; Ctrl-C ends it.`,
        swept > 0 && `Removed leftovers of earlier runs: ${swept}.`,
      ).map((line) => view.paint('faint', line)),
    );
    const attempt = attemptsOf(session);
    const ticks = new Ticks(session, eventsOnly ? [] : clients);
    while (!session.stop.aborted) {
      await ticks.look();
      const isRead = await attempt(async () => {
        await queue.take(session.stop, (body) => showEvent(session, body));
        await queue.keep();
      });
      if (!isRead) await session.clock.sleep(triedAgainMs, session.stop).catch(() => {});
    }
    return exitCodes.fine;
  },
});

function showEvent({ terminal, json }: Session, body: string): void {
  const event = certificationEventSchema.safeParse(harmlessJson(body));
  if (!event.success) {
    terminal.note(['Ignored a message that is no event of this version.']);
    return;
  }
  const gist = eventGist(event.data);
  terminal.print([json ? jsonLine({ event: gist }) : eventLine(terminal.view(), gist)]);
}

/** Prints the changes from one look at the status to the next. */
class Ticks {
  readonly #session: Session;
  readonly #looks: readonly { readonly client: OperateClient; readonly attempt: Attempt }[];
  readonly #last = new Map<OperateClient, Status>();
  #lookedAt: Temporal.Instant | undefined;

  constructor(session: Session, clients: readonly OperateClient[]) {
    this.#session = session;
    this.#looks = clients.map((client) => ({ client, attempt: attemptsOf(session) }));
  }

  async look(): Promise<void> {
    const now = this.#session.clock.now();
    const sinceMs = this.#lookedAt?.until(now).total('milliseconds') ?? statusEveryMs;
    // The absolute value, since a clock that was set back must not stop the looks.
    if (Math.abs(sinceMs) < statusEveryMs) return;
    this.#lookedAt = now;
    for (const { client, attempt } of this.#looks) {
      if (this.#session.stop.aborted) return;
      await attempt(async () => {
        const status = await client.ask('status', { partner: false });
        this.#show(this.#last.get(client), status);
        this.#last.set(client, status);
      });
    }
  }

  #show(before: Status | undefined, status: Status): void {
    const { terminal, json } = this.#session;
    const view = terminal.view();
    const { at, lastTick, settings } = status;
    const isTick = lastTick !== undefined && lastTick !== before?.lastTick;
    const [was, is] = [lasting(before), lasting(status)];
    const begun = is.filter((reason) => !was.includes(reason));
    const over = was.filter((reason) => !is.includes(reason));
    if (json) {
      const { integration } = settings;
      if (isTick || begun.length > 0 || over.length > 0)
        terminal.print([jsonLine({ tick: { integration, lastTick, begun, over } })]);
      return;
    }
    terminal.print([
      ...given(isTick && tickLine(view, status)),
      ...begun.map((reason) => noticeLine(view, at, status, reason, false)),
      ...over.map((reason) => noticeLine(view, at, before ?? status, reason, true)),
    ]);
  }
}

/** Leaves out `owing`, which comes and goes with the ticks: their lines have the number. */
function lasting(status: Status | undefined): readonly Reason[] {
  return status?.reasons.filter((reason) => reason !== 'owing') ?? [];
}
