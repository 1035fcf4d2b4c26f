import { exitCodeOf, exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { explainLines, inTheWay, isSettled } from '../render/explain.ts';

export const explain = opsCommand({
  of: 'explain',
  details:
    'Shows no personal data. The partner is asked, too. Ends with 3 when neither the ledger nor the partner knows the assessment, with 4 or 5 when the partner refuses or fails to answer.',
  examples: [['explain 48213 --stack prod', 'was 48213 announced, and when?']],
  async run(session, _own, settings) {
    const client = await session.operateClient();
    const result = await session.ask(client, 'explain', settings);
    // `attempt`, not `ask`: a status that fails must not hide the answer.
    const { result: status } = isSettled(result)
      ? {}
      : await client.attempt('status', { partner: false });
    const answer = { ...result, ...(status && { inTheWay: inTheWay(status) }) };
    session.answer(answer, (view) => explainLines(view, result, status));
    const { verdict, partner } = result;
    if (verdict === 'partner-silent' && partner.has === 'no-answer')
      return exitCodeOf(partner.problem.code);
    return verdict === 'not-at-partner' ? exitCodes.notFound : exitCodes.fine;
  },
});
