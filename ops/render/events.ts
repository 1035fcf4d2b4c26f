import type { ResultOf } from '../../lambda/commands/contract.ts';
import { deliveries } from './explain.ts';
import { type Cell, table, textOf, type View } from './layout.ts';
import { count, given } from './text.ts';
import { moment } from './time.ts';

type Events = ResultOf<'events'>;
type Listed = Events['events'][number];

/** The columns of a line. */
const width = 120;
/** The least columns for a name, however long the rest of the line is. */
const leastOfName = 10;

export function eventsSum(all: Events | undefined, one: Events): Events {
  if (all === undefined) return one;
  const events = [...all.events, ...one.events];
  return { ...one, events, unreadable: all.unreadable + one.unreadable };
}

/** The newest first. */
export function eventsLines(view: View, { events, unreadable, next }: Events): string[] {
  const more = next === undefined ? '' : ', and there are older ones: --all, or a larger --limit';
  const some = [...rowsOf(view, events), '', `${count(events.length, 'event')}${more}`];
  return given(
    ...(events.length === 0 ? ['No event of these days matches.'] : some),
    unreadable > 0 &&
      view.paint('warning', `${count(unreadable, 'certification')} cannot be read.`),
  );
}

function rowsOf(view: View, events: readonly Listed[]): string[] {
  const right = { align: 'right' } as const;
  const columns = [
    { title: 'at' },
    { title: 'type' },
    { title: 'assessment', ...right },
    { title: 'certified on' },
    { title: 'organization', ...right },
    { title: 'delivery' },
  ];
  const rows = events.map((event) => rowOf(view, event));
  const taken = columns.map(({ title }, column) =>
    Math.max(title.length, ...rows.map((row) => textOf(row[column] ?? '').length)),
  );
  // An indent, and two blanks before each next column.
  const left = width - 2 - taken.reduce((sum, one) => sum + one + 2, 0);
  const named = rows.map((row, index) => [
    ...row,
    cut(events[index]?.assessment_name ?? '', Math.max(leastOfName, left)),
  ]);
  return table(view, [...columns, { title: 'name' }], named);
}

function rowOf(view: View, event: Listed): Cell[] {
  const { at, type, late, id, day, organization_id, delivery } = event;
  const { [delivery]: told } = deliveries;
  return [
    moment(at, view),
    late ? `${type}, late` : type,
    String(id),
    day,
    String(organization_id ?? 'none'),
    // In the words of --delivery.
    typeof told === 'string' ? delivery : [told[0], delivery],
  ];
}

const cut = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** For a spreadsheet: a line an event, instants in UTC. */
export function eventsCsv({ events }: Pick<Events, 'events'>): string[] {
  return [
    'at,type,assessment_id,revision,event,delivery,late,changed,certified_on,presence,organization_id,assessment_name',
    ...events.map((event) =>
      [
        event.at,
        event.type,
        event.id,
        event.revision,
        event.event,
        event.delivery,
        event.late,
        event.changed.join(' '),
        event.day,
        event.presence,
        event.organization_id,
        csvText(event.assessment_name ?? ''),
      ].join(','),
    ),
  ];
}

/** A spreadsheet would take a text that begins with one of these characters for a formula. */
function csvText(text: string): string {
  const harmless = /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
