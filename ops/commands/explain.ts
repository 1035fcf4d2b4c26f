import { Argument } from 'commander';
import * as z from 'zod';
import { exitCodeOf, exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { positiveNumber } from '../options.ts';
import { explainLines, inTheWay, isSettled } from '../render/explain.ts';

export const explain = opsCommand({
  usage: 'explain',
  summary: 'The life of one assessment: what was seen and announced of it, or why nothing was.',
  details:
    'Shows no personal data. What the ledger does not know, the partner is asked for. Ends with 3 when neither knows it, with 4 or 5 when the partner refuses or fails to say.',
  examples: [
    ['explain 48213 --stack prod', 'was 48213 announced, and when?'],
    ['explain 48213 --stack prod --no-partner', 'only what the ledger knows'],
  ],
  declare: (command) =>
    command
      .addArgument(new Argument('<id>', 'top-level id of the assessment').argParser(positiveNumber))
      .option('--no-partner', 'ask the partner only about what the ledger does not know'),
  settings: z.object({ id: z.int(), partner: z.boolean() }),
  async run(session, settings) {
    const operator = await session.operator();
    const result = await session.ask(operator, 'explain', settings);
    const status = isSettled(result)
      ? undefined
      : await session.ask(operator, 'status', { partner: false });
    const answer = { ...result, ...(status && { inTheWay: inTheWay(status) }) };
    session.answer(answer, (view) => explainLines(view, result, status));
    const { verdict, partner } = result;
    if (verdict === 'partner-silent' && partner?.has === 'no-answer')
      return exitCodeOf(partner.problem.code);
    return verdict === 'not-at-partner' ? exitCodes.notFound : exitCodes.fine;
  },
});
