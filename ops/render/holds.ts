import type { ResultOf } from '../../lambda/operations/contract.ts';
import { facts, table, type View } from './layout.ts';
import { added } from './sums.ts';
import { amount, count, counts } from './text.ts';
import { momentAndDistance } from './time.ts';

type Holds = ResultOf<'holds'>;
type Decided = ResultOf<'release'> | ResultOf<'discard'>;

const organizationsShown = 20;

/** Of all calls so far and one more. */
export function holdsSum(all: Holds | undefined, one: Holds): Holds {
  if (all === undefined) return one;
  const [oldest] = [all.oldest, one.oldest].filter((at) => at !== undefined).sort();
  const newest = [all.newest, one.newest]
    .filter((at) => at !== undefined)
    .sort()
    .at(-1);
  return {
    ...one,
    at: all.at,
    events: all.events + one.events,
    certifications: all.certifications + one.certifications,
    unreadable: all.unreadable + one.unreadable,
    byType: added(all.byType, one.byType),
    byOrganization: together([...all.byOrganization, ...one.byOrganization], 'organization_id'),
    byYear: together([...all.byYear, ...one.byYear], 'year'),
    ...(oldest !== undefined && { oldest }),
    ...(newest !== undefined && { newest }),
  };
}

function together<Key extends string, Row extends Record<Key | 'events', number>>(
  rows: readonly Row[],
  key: Key,
): Row[] {
  return [...Map.groupBy(rows, (row) => row[key]).values()]
    .flatMap((alike) => {
      const [first] = alike;
      const events = alike.reduce((sum, row) => sum + row.events, 0);
      return first === undefined ? [] : [{ ...first, events }];
    })
    .sort((a, b) => b.events - a.events || a[key] - b[key]);
}

/** What waits for operators, without anybody's data. */
export function holdsLines(view: View, holds: Holds | undefined, waiting: string): string[] {
  if (holds === undefined) return ['Nothing was read.'];
  const { events, certifications, byType, byOrganization, byYear, oldest, newest } = holds;
  const unreadable =
    holds.unreadable > 0 ? count(holds.unreadable, 'outbox', 'outboxes') : undefined;
  if (events === 0 && unreadable === undefined) return [`Nothing is ${waiting}.`];
  const right = { align: 'right' } as const;
  const shown = byOrganization.slice(0, organizationsShown);
  const more = byOrganization.length - shown.length;
  return [
    `${view.paint('strong', `${count(events, 'event')} ${waiting}`)}, of ${count(certifications, 'assessment')}: ${counts(byType)}`,
    ...facts(view, [
      ['oldest', oldest && momentAndDistance(oldest, view)],
      ['newest', newest && momentAndDistance(newest, view)],
      ['unreadable', unreadable],
    ]),
    '',
    ...table(
      view,
      [
        { title: 'organization', ...right },
        { title: 'events', ...right },
      ],
      shown.map((row) => [String(row.organization_id), amount(row.events)]),
    ),
    ...(more > 0 ? [`  and ${count(more, 'other organization')} (--json has all)`] : []),
    '',
    ...table(
      view,
      [
        { title: 'certified in', ...right },
        { title: 'events', ...right },
      ],
      byYear.map((row) => [String(row.year), amount(row.events)]),
    ),
  ];
}

/** Of all calls so far and one more. */
export function decidedSum<Result extends Decided>(all: Result | undefined, one: Result): Result {
  if (all === undefined) return one;
  const behind = 'behind' in one && 'behind' in all ? { behind: one.behind + all.behind } : {};
  return {
    ...one,
    ...behind,
    events: all.events + one.events,
    unreadable: all.unreadable + one.unreadable,
    byType: added(all.byType, one.byType),
  };
}

/** What was released or discarded. */
export function decidedLines(view: View, decided: Decided | undefined, verb: string): string[] {
  if (decided === undefined) return [`Nothing was ${verb}.`];
  const { events, byType, unreadable } = decided;
  const behind = 'behind' in decided ? decided.behind : 0;
  return [
    `${view.paint('strong', `${count(events, 'event')} ${verb}`)}${events > 0 ? `: ${counts(byType)}` : ''}`,
    ...(behind > 0
      ? [`${count(behind, 'event')} still held, because an earlier one of the same assessment is.`]
      : []),
    ...(unreadable > 0
      ? [view.paint('warning', `${count(unreadable, 'outbox', 'outboxes')} cannot be read.`)]
      : []),
  ];
}
