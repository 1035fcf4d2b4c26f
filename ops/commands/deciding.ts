import * as z from 'zod';
import { contract, type ResultOf } from '../../lambda/operations/contract.ts';
import type { Selection } from '../../lambda/operations/shapes.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { follow, operationName } from '../following.ts';
import { opsCommand } from '../ops-command.ts';
import { addNext, eventsPerSecond, nextSchema, openHours, yes } from '../options.ts';
import { answeredWithinMs } from '../progress.ts';
import { decidedLines, decidedSum, holdsLines } from '../render/holds.ts';
import { count } from '../render/text.ts';
import type { Session } from '../session.ts';
import type { OperateClient } from '../target/operate-client.ts';
import { countSelected, selecting, selectionOf, selectionSettings } from './selecting.ts';

/** What `--for` lets through is everything. */
const notWithFor = ['undeliverable', 'organization', 'year', 'type', 'id', 'digest'];

const decidingSettings = {
  ...selectionSettings,
  yes: z.boolean().default(false),
  next: nextSchema,
};

export const release = opsCommand({
  usage: 'release',
  changes: { isFinal: true },
  summary: contract.release.does,
  details:
    'Asks first, with the number of events; only what was counted then is released. With --for: holds nothing new for so many hours, whatever it is. With --undeliverable: tries again what SNS has refused for good.',
  examples: [
    ['release --stack prod', 'all of it'],
    ['release --stack prod --organization 7 --year 2026', 'some of it'],
    ['release --stack prod --digest', 'tell people by mail, and machines not at all'],
    ['release --stack prod --for 12h', 'let a busy day through, too'],
    ['release --stack prod --undeliverable --yes', 'try again what SNS has refused'],
  ],
  declare: (command) =>
    addNext(
      'release',
      selecting(command)
        .option('--digest', 'tell people only, by mail')
        .addOption(openHours().conflicts(notWithFor))
        .addOption(eventsPerSecond()),
    ).addOption(yes()),
  settings: z.object({
    ...decidingSettings,
    digest: z.boolean().default(false),
    for: z.int().optional(),
    eventsPerSecond: z.int().optional(),
  }),
  run(session, { yes: isAgreed, next, digest, for: forHours, eventsPerSecond: pace, ...options }) {
    const [question, verb] = digest
      ? ['Tell people, and people only, of', 'released to people only']
      : options.undeliverable
        ? ['Try again', 'to be tried again']
        : ['Release', 'released'];
    return decide(session, {
      name: 'release',
      question,
      verb,
      isAgreed,
      next,
      selection: selectionOf(options),
      ...(forHours !== undefined && { opensFor: forHours }),
      settings: {
        as: digest ? 'digest' : 'events',
        ...(forHours !== undefined && { forHours }),
        ...(pace !== undefined && { eventsPerSecond: pace }),
      },
    });
  },
});

export const discard = opsCommand({
  usage: 'discard',
  changes: { isFinal: true },
  summary: contract.discard.does,
  details:
    'Asks first, with the number of events; only what was counted then is discarded. The assessments stay known: they are not announced again.',
  examples: [
    ['discard --stack prod --year 2019', 'a migration of old records is no news'],
    ['discard --stack prod --undeliverable --id 48213 --yes', 'what SNS will never take'],
  ],
  declare: (command) => addNext('discard', selecting(command)).addOption(yes()),
  settings: z.object(decidingSettings),
  run: (session, { yes: isAgreed, next, ...options }) =>
    decide(session, {
      name: 'discard',
      question: 'Tell nobody, ever, of',
      verb: 'discarded',
      isAgreed,
      next,
      selection: selectionOf(options),
      settings: {},
    }),
});

interface Decision {
  readonly name: 'release' | 'discard';
  /** To be followed by a number of events. */
  readonly question: string;
  readonly verb: string;
  readonly isAgreed: boolean;
  readonly next: object | undefined;
  readonly selection: Selection;
  /** Hours for which nothing new is to be held: also where nothing is held now. */
  readonly opensFor?: number;
  readonly settings: object;
}

/** What is to be done, and of how many events; undefined: nobody has counted them. */
interface Agreed {
  readonly command: object;
  readonly events?: number;
}

/** Counts, asks, and decides on what was counted: what has come since was not meant. */
async function decide(session: Session, decision: Decision) {
  const client = await session.operateClient();
  const agreed = await (decision.next === undefined
    ? agreedTo(session, client, decision)
    : agreedBefore(session, decision, decision.next));
  if (agreed === undefined) return exitCodes.fine;
  const { command, events } = agreed;
  const { name, verb } = decision;
  using progress = session.progress(name, answeredWithinMs);
  if (events !== undefined) progress.at(0, events, 'events');
  const { stop } = session;
  const by = await session.by();
  const followed = await follow(
    client,
    name,
    { ...command, by },
    {
      stop,
      progress,
      sum: decidedSum,
      onResult: (_, all) => {
        if (events !== undefined) progress.at(all.events, events, 'events');
      },
    },
  );
  session.conclude(followed, (view, result) => decidedLines(view, result, verb));
  return exitCodes.fine;
}

/** @returns undefined when there is nothing to decide about: that has been told then */
async function agreedTo(
  session: Session,
  client: OperateClient,
  { question, isAgreed, selection, opensFor, settings }: Decision,
): Promise<Agreed | undefined> {
  const selected = await countSelected(session, client, selection);
  const { kept, altogether } = selected;
  const { at: until, events, byType, unreadable } = kept;
  if (events === 0 && opensFor === undefined) {
    const none: ResultOf<'discard'> = {
      events,
      byType,
      freed: 0,
      undone: 0,
      behind: 0,
      unreadable,
    };
    session.answer({ ...none, altogether }, (view) =>
      holdsLines(view, selected, selection.waiting),
    );
    return undefined;
  }
  session.note((view) => holdsLines(view, selected, selection.waiting));
  const open = opensFor === undefined ? '' : `, and hold nothing new for ${opensFor} h`;
  await session.confirm(`${question} ${count(events, 'event')}${open}?`, isAgreed);
  return { command: { ...selection, ...settings, until, operation: operationName() }, events };
}

async function agreedBefore(
  session: Session,
  { name, isAgreed }: Decision,
  next: object,
): Promise<Agreed> {
  if (!('until' in next))
    throw new UsageError(
      '--next does not say until when events were counted.',
      `Give it as an earlier ${name} printed it, or leave it out.`,
    );
  await session.confirm('Go on with what was agreed to before?', isAgreed);
  return { command: next };
}
