import * as z from 'zod';
import { flag } from '../../lambda/commands/words.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { yes } from '../input.ts';
import { opsCommand } from '../ops-command.ts';
import {
  type BaselineProgress,
  baselineIn,
  baselineLines,
  restartBaselineLines,
} from '../render/baseline.ts';
import { whatKeepsBaseline } from '../render/status.ts';
import type { Session } from '../session.ts';
import type { OperateClient } from '../target/operate-client.ts';

const followedEveryMs = 5_000;

export const baseline = opsCommand({
  usage: 'baseline',
  of: 'restart-baseline',
  summary: 'Shows how far the baseline (the first full read) is, or restarts it.',
  details:
    'A restart announces only certifications that the ledger lacks; if they are many, the gate holds them. Changes are announced late meanwhile. A baseline that is running goes on.',
  examples: [
    ['baseline --stack prod', 'how far is it?'],
    ['baseline --stack prod --follow', 'with a bar, until it is completed'],
    ['baseline --stack prod --integration district-a --restart', 'read everything again'],
  ],
  first: z.object({
    follow: flag('wait until it is completed, or the integration is paused', {
      isForPeople: true,
    }),
    restart: flag('read everything anew', { excludes: ['follow'], changes: true }),
  }),
  own: z.object(yes),
  async run(session, { follow, restart, yes: isAgreed }, reasons) {
    if (!restart && ('reason' in reasons || isAgreed))
      throw new UsageError(
        '--reason and --yes belong to --restart.',
        'Give --restart as well, or leave them out; --help describes them.',
      );
    const client = await session.operateClient();
    if (restart) {
      const { name } = client.integration;
      await session.confirm(
        `Read everything of ${name} anew? Until that is done, changes of older days are announced late.`,
        isAgreed,
      );
      const result = await session.ask(client, 'restart-baseline', {
        ...reasons,
        by: await session.by(),
      });
      session.answer(result, (view) => restartBaselineLines(view, result));
      return exitCodes.fine;
    }
    const now = baselineIn(await session.ask(client, 'status', {}));
    const result = follow ? await followed(session, client, now) : now;
    session.answer(result, (view) => baselineLines(view, result));
    return follow && result.status !== 'completed' ? exitCodes.problem : exitCodes.fine;
  },
});

/**
 * Ends when the baseline is completed, or when the integration is paused, since a paused baseline may stand still for
 * long.
 */
async function followed(
  session: Session,
  client: OperateClient,
  first: BaselineProgress,
): Promise<BaselineProgress> {
  using progress = session.progress('baseline');
  // The total is asked for only once, since each time costs a request to the partner.
  const { total, problem } = first;
  if (total !== undefined) progress.at(first.counted, total, 'certifications');
  let why = '';
  for (;;) {
    const status = await client.ask('status', { partner: false });
    const { baseline: current, paused } = status;
    if (current.status === 'completed' || paused !== undefined)
      return {
        ...current,
        ...(total !== undefined && { total }),
        ...(problem !== undefined && { problem }),
        ...(paused !== undefined && { paused }),
      };
    if (total !== undefined) progress.at(current.counted, total, 'certifications');
    const { terminal } = session;
    const keeps = whatKeepsBaseline(terminal.view('errors'), status);
    if (keeps !== why) session.note(() => [keeps]);
    why = keeps;
    await session.clock.sleep(followedEveryMs, session.stop);
  }
}
