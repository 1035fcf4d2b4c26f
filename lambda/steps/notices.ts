import type { Calendar } from '../detection/calendar.ts';
import type { CertificationEvent } from '../events/event.ts';
import type { Notice } from '../ports.ts';

/** So many events at once that ops decide what becomes of them. */
export function floodNotice(integration: string, events: readonly CertificationEvent[]): Notice {
  return {
    subject: `${integration}: ${events.length} events are held`,
    text: [
      `So much has changed at once at the partner of ${integration} that it was not announced:`,
      `${events.length} events are held. Somebody should look whether it is a mass edit, a changed`,
      'scope or real news. Nothing is lost: a held event waits until it is released or discarded.',
      '',
      'By kind:',
      ...tally(events, ({ type }) => type),
      '',
      'By organization:',
      ...tally(events, ({ data }) => String(data.assessment.organization_id)),
      '',
      'By year of completion:',
      ...tally(events, ({ data }) => data.assessment.certified_on.slice(0, 4)),
      '',
      `To find them: the ledger's index "undelivered", key "${integration}#held".`,
      '',
    ].join('\n'),
  };
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
