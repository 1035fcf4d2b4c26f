import { Temporal } from 'temporal-polyfill';
import { commandLine, noticed } from '../condition-table.ts';
import type { Calendar } from '../decisions/calendar.ts';
import type { Sighting } from '../decisions/compare.ts';
import type { ConditionName, OpenCondition } from '../decisions/conditions.ts';
import type { Notice } from '../ports/announcer.ts';
import type { TickSettings } from '../settings.ts';

type NoticeSettings = Pick<TickSettings, 'name' | 'timeZone' | 'stack'>;

/** The notice that a condition owes. */
export function conditionNotice(
  { name: integration, timeZone, stack }: NoticeSettings,
  name: ConditionName,
  { owes = 'begins', since, goneAt = since, number, details = [] }: OpenCondition,
  nowMs: number,
): Notice {
  const entry = noticed[name];
  const { title, grows = `${title}, and more`, ends, over, counts, command } = entry;
  const minutes = Math.max(1, Math.round((goneAt - since) / 60_000));
  const was = `${ends}, after ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
  const subject = `${integration}: ${{ begins: title, grows, ends, was }[owes]}`;
  const from = moment(since, timeZone);
  if (owes === 'was') {
    const past = `It began at ${from}; there is nothing to do.`;
    const parts = { severity: 'over', about: [past], steps: [] } as const;
    return { subject, text: `${subject}. ${past}\n`, parts };
  }
  const began = `Since: ${from}`;
  const place = { at: `--stack ${stack}`, integration } as const;
  const typed = command === undefined ? [] : [commandLine(command, place)];
  const about = [
    `${entry.happened} ${entry.impact}`,
    counts === undefined ? began : `${began}\n${counts}: ${number}`,
    ...(details.length > 0 ? [details.map((line) => `  ${line}`).join('\n')] : []),
  ];
  const end = `It is over when ${over}. You will hear of that once more.`;
  const isOver = [`This is over: ${title}.`, `${began}\nUntil: ${moment(nowMs, timeZone)}`];
  const ofMail =
    owes === 'ends'
      ? [...isOver, 'There is nothing to do.']
      : [...about, `Do: ${entry.toDo}`, ...typed.map((one) => `  ${one}`), end];
  return {
    subject,
    text: `${[subject, ...ofMail].join('\n\n')}\n`,
    parts:
      owes === 'ends'
        ? { severity: 'over', about: isOver, steps: [] }
        : {
            severity: 'trouble',
            about: [...about, end],
            steps: [entry.toDo, ...typed.map((one) => `\`${one}\``)],
          },
  };
}

/** `leave`: the changes may leave by themselves. Undefined: nothing is known. */
export type FloodUntil = number | 'leave' | undefined;

/** To the minute, in the partner's time zone. */
function moment(ms: number, timeZone: string): string {
  const time = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
  return `${time.toPlainDate()} ${time.toPlainTime().toString({ smallestUnit: 'minute' })} (${timeZone})`;
}

/**
 * The kinds, organizations and years of the changes in a flood.
 *
 * @param until when new changes of these kinds are no longer held, in milliseconds since the epoch
 */
export function floodDetails(
  { timeZone, withdrawAfterMs }: Pick<TickSettings, 'timeZone' | 'withdrawAfterMs'>,
  changes: readonly Sighting[],
  until: FloodUntil,
): string[] {
  const doubtful = changes.filter(({ found }) => found?.reason !== undefined).length;
  const more =
    until === 'leave'
      ? `They go out by themselves if the total has been too high by mistake: after ${withdrawAfterMs / 60_000} minutes in which it agrees.`
      : until !== undefined &&
        `New ones are held, too, until ${moment(until, timeZone)}, or until release --for 1h.`;
  return [
    ...(doubtful > 0 ? [`On days that the baseline could not read: ${doubtful}`] : []),
    ...(more && doubtful < changes.length ? [more] : []),
    `The first ${changes.length} of them, by kind:`,
    ...tally(changes, ({ kind }) => kind),
    'By organization:',
    ...tally(changes, ({ assessment }) => String(assessment.organization_id ?? 'none')),
    'By year of completion:',
    ...tally(changes, ({ assessment }) => assessment.certified_on.slice(0, 4)),
  ];
}

export function baselineNotice(integration: string, calendar: Calendar): Notice {
  const { days, total } = calendar;
  const proofOf = (day: string) => calendar.entry(day).proof?.kind;
  const counts = [
    `  ${total} certifications on ${days.length} days`,
    `  from ${days[0]} to ${days.at(-1)}`,
  ];
  const proofs = [
    'Days by proof of completeness:',
    ...tally(days, (day) => proofOf(day) ?? 'unproven (read again by the audits)'),
  ];
  const { days: unread, rows } = calendar.unread;
  const read =
    unread.length === 0
      ? `everything that the partner of ${integration} shows has been read once.`
      : `${unread.length} of the days of ${integration} could not be read: ${rows} certifications are counted there and not shown. Certifications that appear there are held.`;
  const announced = 'From now on, changes are announced.';
  const about = [
    `${read[0]?.toUpperCase()}${read.slice(1)} ${announced}`,
    ...[counts, proofs].map((lines) => lines.join('\n')),
  ];
  return {
    subject: `${integration}: baseline completed`,
    text: [`baseline.completed: ${read}`, announced, '', ...counts, '', ...proofs, ''].join('\n'),
    parts: { severity: 'news', about, steps: [] },
  };
}

/** A condition's notice has room for this many rows of each of a flood's three lists. */
const rowsShown = 6;

function tally<Item>(items: readonly Item[], keyOf: (item: Item) => string): string[] {
  const counts = [...Map.groupBy(items, keyOf)]
    .map(([key, { length }]) => ({ key, length }))
    .sort((a, b) => b.length - a.length || a.key.localeCompare(b.key));
  const rest = counts.length - rowsShown;
  return [
    ...counts.slice(0, rowsShown).map(({ key, length }) => `  ${key}: ${length}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ];
}
