import type { Calendar } from '../detection/calendar.ts';
import type { Change } from '../detection/compare.ts';
import type { Notice } from '../ports.ts';

/** So many changes at once that ops decide what becomes of their events. */
export function floodNotice(integration: string, changes: readonly Change[]): Notice {
  return {
    subject: `${integration}: a flood of changes is held`,
    text: [
      `So much has changed at once at the partner of ${integration} that it is not announced: the`,
      `events are held. Somebody should look whether it is a mass edit, a changed scope or real news.`,
      'Nothing is lost: a held event waits until it is released or discarded.',
      '',
      `The first ${changes.length} of them, by kind:`,
      ...tally(changes, ({ kind }) => kind),
      '',
      'By organization:',
      ...tally(changes, (change) => String(subjectOf(change).organization_id)),
      '',
      'By year of completion:',
      ...tally(changes, (change) => dayOf(change).slice(0, 4)),
      '',
      'There may be more: every tick that finds some says so, and its log line has the number.',
      `To find them: the ledger's index "undelivered", key "${integration}#held".`,
      '',
    ].join('\n'),
  };
}

/** More than half of everything is gone at once. */
export function collapseNotice(integration: string, before: number, now: number): Notice {
  return {
    subject: `${integration}: the partner shows less than half of what it did`,
    text: [
      `The partner of ${integration} shows ${now} assessments; ${before} were expected.`,
      'This looks like a changed scope or a fault of the host, not like news: nothing is announced as',
      'withdrawn as long as the total stays below half. What is new or changed is announced as ever.',
      '',
      'What to do: ask the operator whether the scope of this integration was narrowed.',
      '',
    ].join('\n'),
  };
}

const subjectOf = (change: Change) =>
  change.kind === 'withdrawn' ? change.before : change.assessment;
const dayOf = (change: Change) =>
  change.kind === 'withdrawn' ? change.before.day : change.assessment.certified_on;

/** The first full read is done. */
export function baselineNotice(integration: string, calendar: Calendar): Notice {
  const entries = calendar.days.map((day) => calendar.entry(day));
  const unproven = entries.filter(({ proof }) => proof === undefined).length;
  return {
    subject: `${integration}: baseline completed`,
    text: [
      `baseline.completed: everything that the partner of ${integration} shows has been read once.`,
      'From now on, changes are announced.',
      '',
      `  ${calendar.total} certifications on ${calendar.days.length} days`,
      `  from ${calendar.days[0]} to ${calendar.days.at(-1)}`,
      '',
      'Days by proof of completeness:',
      ...tally(
        entries.flatMap(({ proof }) => proof ?? []),
        ({ kind }) => kind,
      ),
      ...(unproven > 0 ? [`  unproven: ${unproven} (read again by the audits)`] : []),
      '',
    ].join('\n'),
  };
}

const rowsShown = 20;

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
