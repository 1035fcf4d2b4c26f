import type { Calendar } from '../detection/calendar.ts';
import type { Sighting } from '../detection/compare.ts';
import type { Notice } from '../ports/announcer.ts';

/** What a flood is made of: of what kind, of which organizations and years. */
export function floodDetails(changes: readonly Sighting[]): string[] {
  return [
    `The first ${changes.length} of them, by kind:`,
    ...tally(changes, ({ kind }) => kind),
    'By organization:',
    ...tally(changes, ({ assessment }) => String(assessment.organization_id ?? 'none')),
    'By year of completion:',
    ...tally(changes, ({ assessment }) => assessment.certified_on.slice(0, 4)),
  ];
}

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
