import { Option } from 'commander';
import * as z from 'zod';
import { contract } from '../../lambda/commands/contract.ts';
import { likenesses } from '../../lambda/events/event.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { assessmentName, positiveNumber } from '../options.ts';
import { testEventLines } from '../render/test-event.ts';

export const testEvent = opsCommand({
  usage: 'test-event',
  changes: { isFinal: true },
  summary: contract['test-event'].does,
  details:
    'A subscriber gets the event only if it passes the filter: give an organization or an assessment of the filter. A filter by type has to list certification.test. Each run sends another event.',
  examples: [
    ['test-event --local', 'does a subscription work?'],
    ['test-event --stack prod --organization 7', 'one that passes the filter for organization 7'],
    ['test-event --local --like withdrawn', 'can a consumer handle an event without a record?'],
  ],
  declare: (command) =>
    command
      .option('--organization <id>', 'organization_id of the event', positiveNumber)
      .option('--assessment <name>', 'assessment_name of the event', assessmentName)
      .addOption(
        new Option(
          '--like <kind>',
          'shaped like an event of this kind, and named so in data.like',
        ).choices(likenesses),
      ),
  settings: z.object({
    organization: z.int().optional(),
    assessment: z.string().optional(),
    like: z.enum(likenesses).optional(),
  }),
  async run(session, { organization, assessment, like }) {
    const result = await session.ask(await session.operateClient(), 'test-event', {
      ...(organization !== undefined && { organization_id: organization }),
      ...(assessment !== undefined && { assessment_name: assessment }),
      ...(like !== undefined && { like }),
      by: await session.by(),
    });
    session.answer(result, (view) => testEventLines(view, result));
    return exitCodes.fine;
  },
});
