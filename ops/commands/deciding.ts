import * as z from 'zod';
import type { ResultOf } from '../../lambda/commands/contract.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { follow, operationName } from '../following.ts';
import { nextOf, yes } from '../input.ts';
import { opsCommand } from '../ops-command.ts';
import { answeredWithinMs } from '../progress.ts';
import { decidedLines, decidedSum, holdsLines } from '../render/holds.ts';
import { count } from '../render/text.ts';
import type { Session } from '../session.ts';
import type { OperateClient } from '../target/operate-client.ts';
import { countSelected, selectionIn } from './selecting.ts';

export const release = opsCommand({
  of: 'release',
  isFinal: true,
  details:
    'Counts the events and asks first; only the counted events are released. With --for: no new event is held for so many hours. With --undeliverable: SNS gets the events again that it has refused for good.',
  examples: [
    ['release --stack prod', 'all of it'],
    ['release --stack prod --organization 7 --year 2026', 'some of it'],
    ['release --stack prod --digest', 'tell people by mail, and machines not at all'],
    ['release --stack prod --for 12h', 'let a busy day through, too'],
    ['release --stack prod --undeliverable --yes', 'try the events again that SNS has refused'],
  ],
  own: z.object({ ...nextOf('release'), ...yes }),
  run(session, own, settings) {
    const [question, verb] =
      settings['as'] === 'digest'
        ? ['Tell people, and people only, of', 'released to people only']
        : settings['waiting'] === 'undeliverable'
          ? ['Try again', 'to be tried again']
          : ['Release', 'released'];
    return decide(session, { ...own, name: 'release', question, verb, settings });
  },
});

export const discard = opsCommand({
  of: 'discard',
  isFinal: true,
  details:
    'Counts the events and asks first; only the counted events are discarded. The assessments stay known: they are not announced again.',
  examples: [
    ['discard --stack prod --year 2019', 'a migration of old records is no news'],
    ['discard --stack prod --undeliverable --id 48213 --yes', 'an event that SNS will never take'],
  ],
  own: z.object({ ...nextOf('discard'), ...yes }),
  run: (session, own, settings) =>
    decide(session, {
      ...{ ...own, name: 'discard', settings },
      ...{ question: 'Tell nobody, ever, of', verb: 'discarded' },
    }),
});

interface Decision {
  readonly name: 'release' | 'discard';
  /** A number of events follows it. */
  readonly question: string;
  readonly verb: string;
  /** The user has agreed already. */
  readonly yes: boolean;
  readonly next?: object | undefined;
  /** The selection of events, and how they are decided. */
  readonly settings: Readonly<Record<string, unknown>>;
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
  { question, yes: isAgreed, settings }: Decision,
): Promise<Agreed | undefined> {
  const selection = selectionIn(settings);
  /** For so many hours, no new event is held. That works also while no event is held. */
  const { forHours: opensFor } = settings;
  const selected = await countSelected(session, client, selection);
  const { found, altogether } = selected;
  const { at: until, events, byType, unreadable } = found;
  if (events === 0 && opensFor === undefined) {
    const undecided = { freed: 0, undone: 0, behind: 0 };
    const none: ResultOf<'discard'> = { events, byType, ...undecided, unreadable };
    session.answer({ ...none, altogether }, (view) =>
      holdsLines(view, selected, selection.waiting),
    );
    return undefined;
  }
  session.note((view) => holdsLines(view, selected, selection.waiting));
  const open = opensFor === undefined ? '' : `, and hold nothing new for ${opensFor} h`;
  await session.confirm(`${question} ${count(events, 'event')}${open}?`, isAgreed);
  return { command: { ...settings, until, operation: operationName() }, events };
}

async function agreedBefore(
  session: Session,
  { name, yes: isAgreed }: Decision,
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
