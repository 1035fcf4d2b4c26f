import { Temporal } from 'temporal-polyfill';
import type { ResultOf } from '../../lambda/commands/contract.ts';
import { type Cell, facts, painted, table, type View } from './layout.ts';
import { ifPausedLines } from './pause.ts';
import { added, amount, count, counts, given } from './text.ts';
import { moment, momentAndDistance } from './time.ts';

type Holds = ResultOf<'holds'>;
type Decided = ResultOf<'release'> | ResultOf<'discard'>;

const organizationsShown = 20;

export function holdsSum(all: Holds | undefined, one: Holds): Holds {
  if (all === undefined) return one;
  const unreadable = all.unreadable + one.unreadable;
  const organizationNames = { ...all.organizationNames, ...one.organizationNames };
  return { ...one, at: all.at, list: [...all.list, ...one.list], organizationNames, unreadable };
}

/** The waiting events, counted. */
export type WaitingCounts = ReturnType<typeof countedEvents>;

/** @param isListed whether each event is shown, too */
export function countedEvents(
  { at, list, organizationNames, unreadable, holding }: Holds,
  isListed: boolean,
) {
  // Compared as instants, since fractions of a second vary in length.
  const oldestFirst = list.toSorted(
    (a, b) => Temporal.Instant.compare(a.since, b.since) || a.id - b.id || a.revision - b.revision,
  );
  const byType = { created: 0, updated: 0, withdrawn: 0, restored: 0 };
  for (const { type } of list) byType[type] += 1;
  return {
    at,
    events: list.length,
    certifications: new Set(list.map(({ id }) => id)).size,
    byType,
    /** Null: of records without an organization. */
    byOrganization: [...numbers(list.map((row) => row.organization_id))]
      .map(([organization_id, events]) => ({
        organization_id,
        organization_name: organizationNames[String(organization_id)],
        events,
      }))
      .sort((a, b) => b.events - a.events || Number(a.organization_id) - Number(b.organization_id)),
    byYear: [...numbers(list.map(({ year }) => year))]
      .map(([year, events]) => ({ year, events }))
      .sort((a, b) => b.events - a.events || a.year - b.year),
    oldest: oldestFirst.at(0)?.since,
    newest: oldestFirst.at(-1)?.since,
    unreadable,
    ...(holding && { holding }),
    ...(isListed && { list: oldestFirst }),
  };
}

/** How often each value occurs. */
function numbers<Value>(all: readonly Value[]): ReadonlyMap<Value, number> {
  const found = new Map<Value, number>();
  for (const one of all) found.set(one, (found.get(one) ?? 0) + 1);
  return found;
}

/**
 * The events that wait for ops, without personal data.
 *
 * @param selected the selected events, and the number of all that wait if none is selected
 */
export function holdsLines(
  view: View,
  { found, altogether }: { found: WaitingCounts; altogether: number },
  waiting: string,
): string[] {
  const { byOrganization, byYear } = found;
  if (found.events === 0) return noneLines(view, found, altogether, waiting);
  const right = { align: 'right' } as const;
  const shown = byOrganization.slice(0, organizationsShown);
  const more = byOrganization.length - shown.length;
  const isNamed = shown.some(({ organization_name: name }) => name !== undefined);
  const { events, of } = holdsGist(found, waiting);
  return [
    `${view.paint('strong', events)}${of}`,
    ...facts(view, holdsFacts(view, found)),
    '',
    ...table(
      view,
      given(
        { title: 'organization', ...right },
        { title: 'events', ...right },
        isNamed && { title: 'name' },
      ),
      shown.map((row) =>
        given(
          String(row.organization_id ?? 'none'),
          amount(row.events),
          isNamed && (row.organization_name ?? ''),
        ),
      ),
    ),
    ...given(more > 0 && `  and ${count(more, 'other organization')} (--json has all)`, ''),
    ...table(
      view,
      [
        { title: 'certified in', ...right },
        { title: 'events', ...right },
      ],
      byYear.map((row) => [String(row.year), amount(row.events)]),
    ),
    ...(found.list === undefined ? [] : ['', ...listLines(view, found.list)]),
    ...holdingLines(view, found),
  ];
}

/** Until when the gate holds new events, too. */
export const holdingTold = (view: View, { until, types }: NonNullable<Holds['holding']>): string =>
  `New events (${types.join(', ')}) are held, too, until ${momentAndDistance(until, view)}`;

const holdingLines = (view: View, { holding }: Pick<Holds, 'holding'>): string[] =>
  given(
    holding && view.paint('warning', `${holdingTold(view, holding)}, or until release --for 1h.`),
  );

/**
 * The commands that decide about the shown events.
 *
 * @param toType gives the command line of a command, as it is typed here
 */
export function nextLines(
  view: View,
  options: string,
  toType: (command: string) => string,
): string[] {
  return [
    '',
    ...facts(view, [
      ['to send it on', toType(`release${options}`)],
      ['to tell nobody', toType(`discard${options}`)],
    ]),
  ];
}

/** The numbers, in two parts of a sentence. */
export function holdsGist({ events, certifications, byType }: WaitingCounts, waiting: string) {
  return {
    events: `${count(events, 'event')} ${waiting}`,
    of: `, of ${count(certifications, 'assessment')}: ${counts(byType)}`,
  };
}

export function holdsFacts(
  view: View,
  { oldest, newest, unreadable }: WaitingCounts,
): (readonly [name: string, value: string | undefined])[] {
  return [
    ['oldest', oldest && momentAndDistance(oldest, view)],
    ['newest', newest && momentAndDistance(newest, view)],
    ['unreadable', unreadable > 0 ? outboxes(unreadable) : undefined],
  ];
}

/** The text if no event waits, or if none matches the selection. */
export function noneTold(
  { unreadable }: WaitingCounts,
  altogether: number,
  waiting: string,
): Cell[] {
  const none = unreadable > 0 ? 'Nothing that can be read is' : 'Nothing is';
  const others = `${count(altogether, 'event')} ${waiting}, and none of them matches.`;
  return given<Cell>(
    altogether === 0 ? `${none} ${waiting}.` : others,
    unreadable > 0 && ['warning', `${outboxes(unreadable)} cannot be read.`],
  );
}

const outboxes = (number: number) => count(number, 'outbox', 'outboxes');

function noneLines(
  view: View,
  found: WaitingCounts,
  altogether: number,
  waiting: string,
): string[] {
  const none = noneTold(found, altogether, waiting).map((told) => painted(view, told));
  return [...none, ...holdingLines(view, found)];
}

function listLines(view: View, list: Holds['list']): string[] {
  const isRefused = list.some(({ code }) => code !== undefined);
  const right = { align: 'right' } as const;
  return table(
    view,
    given(
      { title: 'assessment', ...right },
      { title: 'rev', ...right },
      { title: 'type' },
      { title: 'since' },
      isRefused && { title: 'refused with' },
    ),
    list.map(({ id, revision, type, since, code = '' }) =>
      given(String(id), String(revision), type, moment(since, view), isRefused && code),
    ),
  );
}

export function decidedSum<Result extends Decided>(all: Result | undefined, one: Result): Result {
  if (all === undefined) return one;
  const open = 'openUntil' in all ? { openUntil: all.openUntil } : {};
  return {
    ...one,
    ...open,
    events: all.events + one.events,
    freed: all.freed + one.freed,
    undone: all.undone + one.undone,
    behind: all.behind + one.behind,
    unreadable: all.unreadable + one.unreadable,
    byType: added(all.byType, one.byType),
  };
}

/** The outcome of `release` or `discard`. */
export function decidedLines(view: View, decided: Decided, verb: string): string[] {
  const { events, byType, freed, undone, behind, unreadable } = decided;
  const openUntil = 'openUntil' in decided ? decided.openUntil : undefined;
  const warning = (text: string) => view.paint('warning', text);
  return given(
    `${view.paint('strong', `${count(events, 'event')} ${verb}`)}${events > 0 ? `: ${counts(byType)}` : ''}`,
    undone > 0 && `${count(undone, 'event')} not sent: they undo each other, and leave the outbox.`,
    behind > 0 &&
      `${count(behind, 'event')} still held, because an earlier one of the same assessment is.`,
    freed > 0 &&
      warning(
        `${count(freed, 'event')} more, held only behind these, ${freed === 1 ? 'goes' : 'go'} out.`,
      ),
    unreadable > 0 && warning(`${outboxes(unreadable)} cannot be read.`),
    openUntil && `Nothing new is held until ${momentAndDistance(openUntil, view)}.`,
    ...holdingLines(view, decided),
    ...('paused' in decided ? ifPausedLines(view, decided) : []),
  );
}
