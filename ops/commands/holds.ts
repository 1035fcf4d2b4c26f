import type { Command } from 'commander';
import * as z from 'zod';
import type { KeptSelection } from '../../lambda/operations/command.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { follow } from '../following.ts';
import { opsCommand } from '../ops-command.ts';
import { eventsPerSecond, ids, kinds, nextOption, yes } from '../options.ts';
import { decidedLines, decidedSum, holdsLines, holdsSum } from '../render/holds.ts';
import { count } from '../render/text.ts';
import type { Session } from '../session.ts';
import type { Operator } from '../target/operator.ts';

const selecting = (command: Command) =>
  command
    .option('--undeliverable', 'those that SNS has refused for good, instead of those held')
    .option('--organization <ids>', 'of these organizations', ids)
    .option('--year <years>', 'certified in these years', ids)
    .option('--type <types>', 'created, updated, withdrawn or restored', kinds)
    .option('--id <ids>', 'of these assessments', ids);

const selectingOptions = ['undeliverable', 'organization', 'year', 'type', 'id'];

const selectionSettings = {
  undeliverable: z.boolean().default(false),
  organization: z.array(z.int()).optional(),
  year: z.array(z.int()).optional(),
  type: z.array(z.enum(['created', 'updated', 'withdrawn', 'restored'])).optional(),
  id: z.array(z.int()).optional(),
};
const decidingSettings = {
  ...selectionSettings,
  yes: z.boolean().default(false),
  next: z.record(z.string(), z.json()).optional(),
};

type Selecting = z.output<z.ZodObject<typeof selectionSettings>>;

function selectionOf(options: Selecting): KeptSelection {
  const { undeliverable, organization, year, type, id } = options;
  return {
    waiting: undeliverable ? 'undeliverable' : 'held',
    ...(organization !== undefined && { organizations: organization }),
    ...(year !== undefined && { years: year }),
    ...(type !== undefined && { types: type }),
    ...(id !== undefined && { ids: id }),
  };
}

export const holds = opsCommand({
  usage: 'holds',
  summary: 'What waits for a decision of operators, by type, organization and year.',
  details: 'Shows no personal data.',
  examples: [
    ['holds --stack prod', 'what has the flood guard kept back?'],
    ['holds --stack prod --undeliverable', 'what has SNS refused for good?'],
  ],
  declare: selecting,
  settings: z.object(selectionSettings),
  async run(session, options) {
    const selection = selectionOf(options);
    const { result, stopped } = await counted(session, await session.operator(), selection);
    session.conclude(result, (view) => holdsLines(view, result, selection.waiting), stopped);
    return exitCodes.fine;
  },
});

export const release = opsCommand({
  usage: 'release',
  summary: 'Sends on what is held; the next tick delivers it.',
  details:
    'Asks first, with the number of events; only what was counted then is released. With --undeliverable: tries again what SNS has refused for good.',
  examples: [
    ['release --stack prod', 'all of it'],
    ['release --stack prod --organization 7 --year 2026', 'some of it'],
    ['release --stack prod --digest', 'tell people in one mail, and machines not at all'],
    ['release --stack prod --undeliverable --yes', 'try again what SNS has refused'],
  ],
  declare: (command) =>
    selecting(command)
      .option('--digest', 'tell people only, in one mail')
      .addOption(eventsPerSecond())
      .addOption(yes())
      .addOption(nextOption([...selectingOptions, 'digest', 'eventsPerSecond'])),
  settings: z.object({
    ...decidingSettings,
    digest: z.boolean().default(false),
    eventsPerSecond: z.int().optional(),
  }),
  async run(session, { yes: isAgreed, next, digest, eventsPerSecond: pace, ...options }) {
    const verb = options.undeliverable ? 'to be tried again' : 'released';
    const how = digest
      ? 'Tell people, and people only, of'
      : options.undeliverable
        ? 'Try again'
        : 'Release';
    return decide(session, {
      name: 'release',
      question: (events) => `${how} ${events}?`,
      verb,
      isAgreed,
      next,
      selection: selectionOf(options),
      settings: {
        as: digest ? 'digest' : 'events',
        ...(pace !== undefined && { eventsPerSecond: pace }),
      },
    });
  },
});

export const discard = opsCommand({
  usage: 'discard',
  summary: 'Throws away what is held: nobody is told of it.',
  details:
    'Asks first, with the number of events; only what was counted then is discarded. The assessments stay known: they are not announced again.',
  examples: [
    ['discard --stack prod --year 2019', 'a migration of old records is no news'],
    ['discard --stack prod --undeliverable --id 48213 --yes', 'what SNS will never take'],
  ],
  declare: (command) => selecting(command).addOption(yes()).addOption(nextOption(selectingOptions)),
  settings: z.object(decidingSettings),
  run: (session, { yes: isAgreed, next, ...options }) =>
    decide(session, {
      name: 'discard',
      question: (events) => `Discard ${events}, so that nobody is told?`,
      verb: 'discarded',
      isAgreed,
      next,
      selection: selectionOf(options),
      settings: {},
    }),
});

interface Decision {
  readonly name: 'release' | 'discard';
  readonly question: (events: string) => string;
  readonly verb: string;
  readonly isAgreed: boolean;
  readonly next: object | undefined;
  readonly selection: KeptSelection;
  readonly settings: object;
}

/** Counts, asks, and decides on what was counted: what has come since was not meant. */
async function decide(session: Session, decision: Decision) {
  const { name, question, verb, isAgreed, next, selection, settings } = decision;
  const operator = await session.operator();
  const by = await session.by();
  let first: object;
  let events = 0;
  if (next !== undefined) {
    if (!('until' in next))
      throw new UsageError(
        '--next does not say until when events were counted.',
        `Give it as an earlier ${name} printed it, or leave it out.`,
      );
    await session.confirm('Go on with what was agreed to before?', isAgreed);
    first = { ...next, by };
  } else {
    const { result: kept, stopped } = await counted(session, operator, selection);
    if (stopped !== undefined) throw stopped.cause;
    ({ events } = kept);
    if (events === 0) {
      const { byType, unreadable } = kept;
      const none = { events, byType, unreadable, ...(name === 'release' && { behind: 0 }) };
      session.answer(none, (view) => holdsLines(view, kept, selection.waiting));
      return exitCodes.fine;
    }
    session.note((view) => holdsLines(view, kept, selection.waiting));
    await session.confirm(question(count(events, 'event')), isAgreed);
    first = { ...selection, ...settings, until: kept.at, by };
  }
  using progress = session.progress(name);
  const { result, stopped } = await follow(session, operator, name, first, {
    sum: decidedSum,
    onResult: (_, all) => events > 0 && progress.at(all.events, events, 'events'),
  });
  session.conclude(result, (view) => decidedLines(view, result, verb), stopped);
  return exitCodes.fine;
}

function counted(session: Session, operator: Operator, selection: KeptSelection) {
  return follow(session, operator, 'holds', selection, { sum: holdsSum });
}
