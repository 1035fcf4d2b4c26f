import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { yes } from '../options.ts';
import { baselineLines } from '../render/baseline.ts';
import { restartBaselineLines } from '../render/steering.ts';
import type { Session } from '../session.ts';
import type { Operator } from '../target/operator.ts';

const followedEveryMs = 5_000;

export const baseline = opsCommand({
  usage: 'baseline',
  summary: 'How far the first full read of an integration is; begins it anew.',
  details: 'Beginning anew never announces what was announced.',
  examples: [
    ['baseline --stack prod', 'how far is it?'],
    ['baseline --stack prod --follow', 'with a bar, until it is completed'],
    ['baseline --stack prod --integration district-a --restart', 'read everything again'],
  ],
  declare: (command) =>
    command
      .option('--follow', 'wait until it is completed')
      .option('--restart', 'read everything anew')
      .option('--reason <text>', 'why, for the record')
      .addOption(yes()),
  settings: z.object({
    follow: z.boolean().default(false),
    restart: z.boolean().default(false),
    reason: z.string().optional(),
    yes: z.boolean().default(false),
  }),
  async run(session, { follow, restart, reason, yes: isAgreed }) {
    const operator = await session.operator();
    if (restart) {
      const { name } = operator.integration;
      await session.confirm(
        `Read everything of ${name} anew, before anything new is announced?`,
        isAgreed,
      );
      const result = await session.ask(operator, 'restart-baseline', {
        ...(reason !== undefined && { reason }),
        by: await session.by(),
      });
      session.answer(result, (view) => restartBaselineLines(view, result));
      return exitCodes.fine;
    }
    const result = follow
      ? await completed(session, operator)
      : await session.ask(operator, 'baseline', {});
    session.answer(result, () => baselineLines(result));
    return exitCodes.fine;
  },
});

async function completed(session: Session, operator: Operator) {
  using progress = session.progress('baseline');
  // The total is asked for once: it is the partner that is asked.
  let current = await operator.ask('baseline', {});
  const { total } = current;
  while (current.status !== 'completed') {
    if (total !== undefined) progress.at(current.counted, total, 'certifications');
    await sleep(followedEveryMs, undefined, { signal: session.stop }).catch(() => {
      session.stop.throwIfAborted();
    });
    current = await operator.ask('baseline', { partner: false });
  }
  return { ...current, ...(total !== undefined && { total }) };
}
