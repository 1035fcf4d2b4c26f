import * as z from 'zod';
import { certificationEventSchema } from '../../lambda/events/event.ts';
import type { ResultOf } from '../../lambda/operations/contract.ts';
import { InterruptedError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { harmless } from '../render/text.ts';
import { eventGist, eventLine, noticeLine, tickLine } from '../render/watch.ts';
import { jsonLine, type Session } from '../session.ts';
import type { Operator } from '../target/operator.ts';
import { sweep, TemporaryQueue } from '../watching/temporary-queue.ts';

type Status = ResultOf<'status'>;

const statusEveryMs = 10_000;

export const watch = opsCommand({
  usage: 'watch',
  summary: 'Follows events and ticks live, until Ctrl-C.',
  details:
    'Through a queue of its own, which is removed at the end; one that a crash has left behind is removed by the next run. Shows no personal data. With --json: a line each. Ctrl-C is its regular end: 0.',
  examples: [
    ['watch --stack prod', 'what is going on?'],
    ['watch --stack prod --integration district-a', 'one integration only'],
  ],
  declare: (command) => command.option('--events-only', 'do not ask for ticks'),
  settings: z.object({ eventsOnly: z.boolean().default(false) }),
  async run(session, { eventsOnly }) {
    const { access, topics, integrations } = await session.target();
    const operators = await session.operators();
    const swept = await sweep(access, topics.events);
    const [only] = operators.length < integrations.length ? operators : [];
    await using queue = await TemporaryQueue.create(access, {
      topicArn: topics.events,
      integration: only?.integration.name,
    });
    session.note((view) => [
      view.paint(
        'faint',
        `Watching ${operators.map(({ integration }) => integration.name).join(', ')}; Ctrl-C ends it.`,
      ),
      ...(swept > 0
        ? [view.paint('faint', `Removed ${swept} left behind by an earlier run.`)]
        : []),
    ]);
    const ticks = new Ticks(session, eventsOnly ? [] : operators);
    while (!session.stop.aborted) {
      for (const body of await queue.receive()) showEvent(session, body);
      await ticks.look();
      await queue.keep();
    }
    return exitCodes.fine;
  },
});

function showEvent({ terminal, json, view }: Session, body: string): void {
  const clean = JSON.parse(body, (_, value) =>
    typeof value === 'string' ? harmless(value) : value,
  );
  const event = certificationEventSchema.safeParse(clean);
  if (!event.success) {
    terminal.note(['A message that is no event of this version.']);
    return;
  }
  const gist = eventGist(event.data);
  terminal.print([json ? jsonLine({ event: gist }) : eventLine(view, gist)]);
}

/** What changes from one look at the status to the next. */
class Ticks {
  readonly #session: Session;
  readonly #operators: readonly Operator[];
  readonly #last = new Map<Operator, Status>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(session: Session, operators: readonly Operator[]) {
    this.#session = session;
    this.#operators = operators;
  }

  async look(): Promise<void> {
    if (performance.now() - this.#lookedAt < statusEveryMs) return;
    this.#lookedAt = performance.now();
    for (const operator of this.#operators) {
      if (this.#session.stop.aborted) return;
      const status = await operator.ask('status', { partner: false }).catch((error) => {
        if (error instanceof InterruptedError) return undefined;
        throw error;
      });
      if (status === undefined) return;
      this.#show(this.#last.get(operator), status);
      this.#last.set(operator, status);
    }
  }

  #show(before: Status | undefined, status: Status): void {
    const { terminal, json, view } = this.#session;
    const { lastTick, conditions, settings } = status;
    const isTick = lastTick !== undefined && lastTick !== before?.lastTick;
    const known = new Set(before?.conditions.map(({ name }) => name));
    const open = new Set(conditions.map(({ name }) => name));
    const begun = conditions.filter(({ name }) => !known.has(name));
    const over = before?.conditions.filter(({ name }) => !open.has(name)) ?? [];
    if (json) {
      const { integration } = settings;
      const names = (list: typeof begun) => list.map(({ name }) => name);
      if (isTick || begun.length > 0 || over.length > 0)
        terminal.print([
          jsonLine({ tick: { integration, lastTick, begun: names(begun), over: names(over) } }),
        ]);
      return;
    }
    terminal.print([
      ...(isTick ? [tickLine(view, status)] : []),
      ...begun.map(({ title }) => noticeLine(view, status, title, 'bad')),
      ...over.map(({ title }) => noticeLine(view, status, `over: ${title}`, 'good')),
    ]);
  }
}
