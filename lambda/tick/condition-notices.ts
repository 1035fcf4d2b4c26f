import { Temporal } from 'temporal-polyfill';
import { type ConditionEntry, conditionTable } from '../condition-table.ts';
import type { ConditionName, OpenCondition, Stage } from '../detection/conditions.ts';
import type { Notice } from '../ports/announcer.ts';
import type { TickSettings } from './parts.ts';

export type NoticeSettings = Pick<TickSettings, 'name' | 'timeZone' | 'resources'>;

/** What a condition is called, and what to do about it. */
export function conditionWording(
  settings: NoticeSettings,
  name: ConditionName,
): { readonly title: string; readonly whatToDo: string } {
  const { begins, toDo, command } = conditionTable[name];
  return { title: begins, whatToDo: [toDo, ...(command ? [command(settings)] : [])].join(' ') };
}

/** The notice that a condition owes. */
export function conditionNotice(
  settings: NoticeSettings,
  name: ConditionName,
  condition: OpenCondition,
  nowMs: number,
): Notice {
  const entry = conditionTable[name];
  const stage = condition.owes ?? 'begins';
  const { begins, grows = `${begins}, and more`, ends } = entry;
  const subject = `${settings.name}: ${{ begins, grows, ends }[stage]}`;
  const sections = [subject, ...bodyOf[stage](entry, settings, condition, nowMs)];
  return { subject, text: `${sections.join('\n\n')}\n` };
}

type Body = (
  entry: ConditionEntry,
  settings: NoticeSettings,
  condition: OpenCondition,
  nowMs: number,
) => string[];

const explained: Body = (entry, settings, { since, number, details = [] }) => [
  entry.means,
  [
    `Since: ${moment(since, settings.timeZone)}`,
    ...(entry.counts === undefined ? [] : [`${entry.counts}: ${number}`]),
  ].join('\n'),
  ...(details.length > 0 ? [details.map((line) => `  ${line}`).join('\n')] : []),
  `What to do: ${entry.toDo}`,
  ...(entry.command === undefined ? [] : [`  ${entry.command(settings)}`]),
  'You will hear of this once more when it is over.',
];

const bodyOf: Readonly<Record<Stage, Body>> = {
  begins: explained,
  grows: explained,
  ends: ({ begins }, { timeZone }, { since }, nowMs) => [
    `This is over: ${begins}.`,
    `Since: ${moment(since, timeZone)}\nUntil: ${moment(nowMs, timeZone)}`,
    'There is nothing to do.',
  ],
};

/** To the minute, in the partner's time zone. */
function moment(ms: number, timeZone: string): string {
  const time = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
  return `${time.toPlainDate()} ${time.toPlainTime().toString({ smallestUnit: 'minute' })} (${timeZone})`;
}
