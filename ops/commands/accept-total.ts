import * as z from 'zod';
import type { ResultOf } from '../../lambda/commands/contract.ts';
import { exitCodes } from '../exit-codes.ts';
import { yes } from '../input.ts';
import { opsCommand } from '../ops-command.ts';
import type { View } from '../render/layout.ts';
import { ifPausedLines } from '../render/pause.ts';
import { amount } from '../render/text.ts';

export const acceptTotal = opsCommand({
  of: 'accept-total',
  isFinal: true,
  details:
    'Until then, no missing certification is withdrawn. Afterwards, each is withdrawn once two looks ten minutes apart (withdrawAfter) have lacked it. A total of 0 may come from a broken host: ask the partner first.',
  examples: [['accept-total 4200 --stack prod', 'status shows 4200 at the partner, as agreed']],
  own: z.object(yes),
  async run(session, { yes: isAgreed }, settings) {
    const client = await session.operateClient();
    const total = Number(settings['total']);
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
    const by = await session.by();
    const result = await session.ask(client, 'accept-total', { ...settings, by });
    session.answer(result, (view) => acceptTotalLines(view, result));
    return exitCodes.fine;
  },
});

export function acceptTotalLines(view: View, result: ResultOf<'accept-total'>): string[] {
  const { changed, total, before } = result;
  return changed
    ? [
        view.paint('good', `accepted: ${amount(total)}, where ${amount(before)} were expected`),
        'Each missing certification is withdrawn once two looks have lacked it.',
        ...ifPausedLines(view, result),
      ]
    : [
        `There is nothing to accept: the partner shows ${amount(total)}, ${amount(before)} were expected.`,
      ];
}
