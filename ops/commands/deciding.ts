import * as z from 'zod';
import { contract, type ResultOf } from '../../lambda/commands/contract.ts';
import type { WaitingSelection } from '../../lambda/commands/shapes.ts';
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

/** `--for` lets all events through, so it excludes any selection. */
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
    'Counts the events and asks first; only the counted events are released. With --for: no new event is held for so many hours. With --undeliverable: SNS gets the events again that it has refused for good.',
  examples: [
    ['release --stack prod', 'all of it'],
    ['release --stack prod --organization 7 --year 2026', 'some of it'],
    ['release --stack prod --digest', 'tell people by mail, and machines not at all'],
    ['release --stack prod --for 12h', 'let a busy day through, too'],
    ['release --stack prod --undeliverable --yes', 'try the events again that SNS has refused'],
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
    'Counts the events and asks first; only the counted events are discarded. The assessments stay known: they are not announced again.',
  examples: [
    ['discard --stack prod --year 2019', 'a migration of old records is no news'],
    ['discard --stack prod --undeliverable --id 48213 --yes', 'an event that SNS will never take'],
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
  /** A number of events follows it. */
  readonly question: string;
  readonly verb: string;
  readonly isAgreed: boolean;
  readonly next: object | undefined;
  readonly selection: WaitingSelection;
  /** For so many hours, no new event is held. Works also while no event is held. */
  readonly opensFor?: number;
  readonly settings: object;
}

/** The agreed command, and its number of events if they were counted. */
interface Agreed {
  readonly command: object;
  readonly events?: number;
}

/** Counts, asks, and decides on the counted events only: nobody has agreed to later ones. */
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

/** @returns undefined if there is nothing to decide about, which the user has been told then */
async function agreedTo(
  session: Session,
  client: OperateClient,
  { question, isAgreed, selection, opensFor, settings }: Decision,
): Promise<Agreed | undefined> {
  const selected = await countSelected(session, client, selection);
  const { found, altogether } = selected;
  const { at: until, events, byType, unreadable } = found;
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
  await session.confirm('Go on with the command that was agreed to before?', isAgreed);
  return { command: next };
}
