import { Argument } from 'commander';
import * as z from 'zod';
import { contract } from '../../lambda/operations/contract.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { anyNumber, sentence, yes } from '../options.ts';
import { acceptTotalLines, pauseLines, resumeLines } from '../render/steering.ts';
import { amount } from '../render/text.ts';

export const pause = opsCommand({
  usage: 'pause',
  changes: {},
  summary: contract.pause.does,
  details:
    'Nothing is lost: changes made meanwhile are announced afterwards. status shows the reason, so it must not hold personal data.',
  examples: [['pause --stack prod --reason "partner migrates, ticket 4711"', 'for a maintenance']],
  declare: (command) =>
    command.requiredOption('--reason <text>', 'why, for those who read the status', sentence),
  settings: z.object({ reason: z.string() }),
  async run(session, { reason }) {
    const client = await session.operateClient();
    const result = await session.ask(client, 'pause', { reason, by: await session.by() });
    session.answer(result, (view) => pauseLines(view, result));
    return exitCodes.fine;
  },
});

export const resume = opsCommand({
  usage: 'resume',
  changes: {},
  summary: contract.resume.does,
  examples: [['resume --stack prod', 'the maintenance is over']],
  declare: (command) => command.option('--reason <text>', 'why, for the record', sentence),
  settings: z.object({ reason: z.string().optional() }),
  async run(session, { reason }) {
    const client = await session.operateClient();
    const result = await session.ask(client, 'resume', {
      ...(reason !== undefined && { reason }),
      by: await session.by(),
    });
    session.answer(result, (view) => resumeLines(view, result));
    return exitCodes.fine;
  },
});

export const acceptTotal = opsCommand({
  usage: 'accept-total',
  changes: { isFinal: true },
  summary: contract['accept-total'].does,
  details:
    'Until then, no missing certification is withdrawn. Afterwards, each is withdrawn once two looks ten minutes apart (withdrawAfter) have lacked it. A total of 0 may come from a broken host: ask the partner first.',
  examples: [['accept-total 4200 --stack prod', 'status shows 4200 at the partner, as agreed']],
  declare: (command) =>
    command
      .addArgument(
        new Argument('<total>', "the partner's total that you have looked at").argParser(anyNumber),
      )
      .option('--reason <text>', 'why, for the record', sentence)
      .addOption(yes()),
  settings: z.object({
    total: z.int(),
    reason: z.string().optional(),
    yes: z.boolean().default(false),
  }),
  async run(session, { total, reason, yes: isAgreed }) {
    const client = await session.operateClient();
    if (total === 0)
      session.note((view) => [
        view.paint(
          'warning',
          'A total of 0 may also come from a broken host, and no record is left to tell the difference: ask the partner whether the scope is empty.',
        ),
      ]);
    await session.confirm(
      `Take ${amount(total)} as the right total of ${client.integration.name}, and the rest as withdrawn?`,
      isAgreed,
    );
    const result = await session.ask(client, 'accept-total', {
      total,
      ...(reason !== undefined && { reason }),
      by: await session.by(),
    });
    session.answer(result, (view) => acceptTotalLines(view, result));
    return exitCodes.fine;
  },
});
