import { Argument } from 'commander';
import * as z from 'zod';
import { contract } from '../../lambda/commands/contract.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { anyNumber, sentence, yes } from '../options.ts';
import { acceptTotalLines } from '../render/accept-total.ts';
import { amount } from '../render/text.ts';

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
