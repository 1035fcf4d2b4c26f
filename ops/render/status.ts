import { Temporal } from 'temporal-polyfill';
import type { ResultOf } from '../../lambda/commands/contract.ts';
import { type Reason, stopping } from '../../lambda/commands/status.ts';
import { conditions } from '../../lambda/condition-table.ts';
import { baselineIn, baselineLine } from './baseline.ts';
import { type Cell, facts, type Tone, table, type View } from './layout.ts';
import { pausedTold, wasLeftAlone } from './pause.ts';
import { amount, count, counts, given } from './text.ts';
import { distance, limit, moment, momentAndDistance, msSince } from './time.ts';

type Status = ResultOf<'status'>;

/** The ranges of unproven days that are listed. */
const rangesShown = 5;
/** The status with the advice on each condition, for this command line. */
export interface AdvisedStatus extends Status {
  /** Advice on reasons that are no open condition. */
  readonly toDo?: readonly string[];
  conditions: (Status['conditions'][number] & {
    readonly title: string;
    readonly whatToDo: string;
  })[];
}

/** The state of one integration: the verdict with its reasons, the facts and the lists. */
export function statusLines(view: View, status: AdvisedStatus): string[] {
  const atWork = status.busy ? view.paint('faint', '  (at work)') : '';
  return [
    `${view.paint('strong', status.settings.integration)}  ${view.paint(...verdict(view, status))}${atWork}`,
    ...facts(view, statusFacts(view, status)),
    '',
    ...table(view, detectionColumns, detectionRows(status)),
    ...notices(view, status),
    ...activity(view, status),
    ...history(view, status),
  ];
}

/** The facts beside the verdict. */
export function statusFacts(
  view: View,
  status: AdvisedStatus,
): (readonly [name: string, value: Cell | undefined])[] {
  const { settings, today, lastTick, openUntil, oldestProof: proof } = status;
  const { day, ...changes } = today;
  return [
    ['partner', `${settings.baseUrl}, days in ${settings.timeZone}`],
    ...(status.toDo ?? []).map((told): [string, Cell] => ['to do', told]),
    ['last tick', lastTick === undefined ? 'none' : momentAndDistance(lastTick, view)],
    ['denied', denied(view, status)],
    ['self-check', selfCheck(view, status)],
    [
      'baseline',
      status.baseline.status === 'completed' ? undefined : baselineLine(baselineIn(status)),
    ],
    ['pace', pace(view, status)],
    ['certifications', total(status)],
    ['today', `${counts(changes, 'no changes')} (${day})`],
    ['waiting', waiting(status)],
    ['gate', openUntil && `nothing new is held until ${momentAndDistance(openUntil, view)}`],
    ['oldest proof', proof ? `${distance(proof.at, view)} (${proof.day})` : 'none'],
    ['unproven', unproven(status)],
  ];
}

/** Up to date, or all reasons against it. */
export function verdict(view: View, status: Status): readonly [tone: Tone, text: string] {
  if (status.reasons.length === 0) return ['good', `up to date${asOf(view, status)}`];
  const why = status.reasons.map((reason) => reasonTold(view, status, reason)).join('; ');
  return [needsSomebody(status) ? 'bad' : 'warning', `not up to date: ${why}`];
}

/** A difference since the last tick is no reason: the next tick finds it. */
function asOf(view: View, { partner, certifications, lastTick }: Status): string {
  if (partner === undefined || 'problem' in partner || lastTick === undefined) return '';
  const more = partner.count - certifications;
  if (more === 0) return '';
  return ` as of the last tick (${distance(lastTick, view)}); ${amount(Math.abs(more))} ${more > 0 ? 'more' : 'fewer'} at the partner since`;
}

/** The reasons that delay a baseline, on one line. */
export function whatKeepsBaseline(view: View, status: Status): string {
  const others = status.reasons.filter(
    (reason) => reason !== 'baseline' && reason !== 'never-ticked',
  );
  const why = others.map((reason) => reasonTold(view, status, reason));
  const what = status.baseline.status === 'none' ? 'not begun' : 'running';
  return why.length === 0
    ? `The baseline is ${what}; ticks go on with it.`
    : `The baseline is ${what}, and ${why.join('; ')}.`;
}

/** Reasons that end by themselves, or that ops have caused. */
const passing: ReadonlySet<Reason> = new Set(['paused', 'baseline', 'differs', 'owing']);

/** Whether a reason needs the attention of ops. */
export function needsSomebody({ reasons }: Pick<Status, 'reasons'>): boolean {
  return reasons.some((reason) => !passing.has(reason));
}

/** A reason, in words. */
export function reasonTold(view: View, status: Status, reason: Reason): string {
  switch (reason) {
    case 'never-ticked':
      return 'no tick has ever come to its end';
    case 'paused':
      return pausedTold(view, status.paused);
    case 'backing-off': {
      const { backingOff } = status;
      if (backingOff === undefined) return 'the partner is left alone after refusals';
      return `the partner is left alone until ${moment(backingOff.until, view)}, after ${count(backingOff.failures, 'refusal')}`;
    }
    case 'baseline':
      return 'the baseline is not completed';
    case 'behind':
      return conditions()['no-completed-tick'].title;
    case 'denied':
      return conditions()['access-denied'].title;
    case 'not-asked':
      return 'the partner could not be asked for its total';
    case 'unfinished':
      return 'the last tick has not found or committed everything';
    case 'differs':
      return differenceTold(status);
    case 'owing':
      return 'events are still to be delivered';
    default:
      return conditions()[reason].title;
  }
}

/** A difference that the last tick could not explain, or that no tick searches for. */
function differenceTold({ partner, certifications, unexplained }: Status): string {
  const more =
    partner !== undefined && 'count' in partner ? partner.count - certifications : unexplained;
  return `the partner shows ${count(Math.abs(more), 'assessment')} ${more > 0 ? 'more' : 'fewer'} than known`;
}

function total({ certifications, partner, unexplained, missing }: Status): Cell {
  const lacking = missing.number === 0 ? '' : `, ${amount(missing.number)} missing`;
  const known = `${amount(certifications)} known${lacking}`;
  if (partner === undefined || ('problem' in partner && wasLeftAlone(partner.problem)))
    return known;
  if ('problem' in partner)
    return ['warning', `${known}; the partner gives no total: ${partner.problem.message}`];
  const theirs = `${known}, ${amount(partner.count)} at the partner`;
  if (missing.isTooMany)
    return [
      'bad',
      `${theirs}: too many are missing to be withdrawn.`,
      { says: 'If that is right', ops: `accept-total ${partner.count}` },
    ];
  return unexplained === 0 ? theirs : ['warning', `${theirs}, ${amount(unexplained)} unexplained`];
}

function waiting({ waiting: { pending, digest, held, undeliverable } }: Status): Cell {
  const text = counts(
    { 'held (see holds)': held, undeliverable, 'to be delivered': pending, 'to be mailed': digest },
    'nothing',
  );
  return held + undeliverable > 0 ? ['warning', text] : text;
}

/** Both change the times until a change is found. */
function pace(view: View, { pace: learned }: Status): Cell | undefined {
  if (learned === undefined) return undefined;
  const { perMinute, silentUntil } = learned;
  const told = given(
    perMinute !== undefined && `${count(perMinute, 'request')} a minute, by refusals`,
    silentUntil && `the partner wants silence until ${momentAndDistance(silentUntil, view)}`,
  );
  return ['warning', told.join('; ')];
}

function denied(view: View, { denial }: Status): Cell | undefined {
  return denial && ['bad', `${distance(denial.at, view)}: ${denial.what} ${denial.whatToDo}`];
}

function selfCheck(view: View, { selfCheck: last }: Status): Cell {
  if (last === undefined) return 'none yet';
  const failed = Object.entries(last.failed).map(([name, text]) => `${name}: ${text}`);
  const when = distance(last.at, view);
  return failed.length === 0 ? `${when}: passed` : ['bad', `${when}: ${failed.join('; ')}`];
}

/** The unproven days; `prove` says why each is unproven. */
function unproven({ unproven: { days, first } }: Status): Cell | undefined {
  const [from] = first;
  if (from === undefined) return undefined;
  const shown = rangesOf(first).slice(0, rangesShown);
  const to = shown.at(-1)?.to ?? from;
  const left = days - first.filter((day) => day <= to).length;
  const told = shown.map((one) => (one.from === one.to ? one.from : `${one.from} to ${one.to}`));
  const more = left > 0 ? ` and ${amount(left)} more` : '';
  return [
    'warning',
    `${count(days, 'day')}: ${told.join(', ')}${more}.`,
    { says: 'Why', ops: `prove --from ${from} --to ${to}` },
  ];
}

/** Days in order, as ranges. */
function rangesOf(days: readonly string[]): { readonly from: string; to: string }[] {
  const ranges: { readonly from: string; to: string }[] = [];
  for (const day of days) {
    const last = ranges.at(-1);
    if (last && Temporal.PlainDate.from(last.to).add({ days: 1 }).toString() === day) last.to = day;
    else ranges.push({ from: day, to: day });
  }
  return ranges;
}

const changes: readonly [keyof Status['detection'], what: string, by: string][] = [
  ['news', 'new, restored', 'the total'],
  ['withdrawn', 'withdrawn', 'the total'],
  ['newest', 'edited, on a day that the newest page shows whole', 'the newest page'],
  ['editedRecent', 'edited, in the recent days', 'an audit'],
  ['editedHistory', 'edited, on any older day; one gone and one new that day', 'an audit'],
];

/** The most that a call takes. */
const longestCallMs = 60_000;

/** The longest time until a change is found. */
export const detectionColumns = [{ title: 'found within' }, { title: 'changes' }, { title: 'by' }];

type Detecting = Pick<Status, 'detection' | 'reasons' | 'unexplained' | 'missing'>;

/** A time is promised only as far as nothing stands against it. */
export function detectionRows({ detection, reasons, unexplained, missing }: Detecting): string[][] {
  const isStopped = reasons.some((reason) => stopping.has(reason));
  return changes.map(([change, what, by]) => {
    const time = limit(detection[change]);
    if (change === 'withdrawn' && missing.isTooMany) return ['once accepted', what, by];
    const means = by === 'the total' && unexplained !== 0 ? 'an audit' : by;
    return [isStopped ? `${time} once that is over` : time, what, means];
  });
}

function notices(view: View, { conditions }: AdvisedStatus): string[] {
  if (conditions.length === 0) return [];
  return [
    '',
    view.paint('strong', '  Open notices'),
    ...conditions.flatMap(({ title, since, number, whatToDo, toldAt }) => [
      `  ${view.paint('bad', title)}  since ${momentAndDistance(since, view)}${number > 1 ? `, ${amount(number)}` : ''}${toldAt === undefined ? '; operations are still to be told' : ''}`,
      `    ${whatToDo}`,
    ]),
  ];
}

function history(view: View, status: Status): string[] {
  if (status.history === undefined) return [];
  const rows = historyRows(view, status.history);
  return [
    '',
    ...(rows.length === 0
      ? ['  No command has changed anything.']
      : table(view, historyColumns, rows)),
  ];
}

function activity(view: View, status: Status): string[] {
  if (status.activity === undefined) return [];
  const { ticks, hours } = status.activity;
  return [ticks, hours].flatMap((some, index) => {
    const columns = activityColumns(index === 0 ? 'tick' : 'hour from');
    return ['', ...table(view, columns, activityRows(view, some))];
  });
}

/** The work of ticks and hours, newest first. */
const activityColumns = (title: 'tick' | 'hour from') => [
  { title },
  ...activityFields.map((field) => ({ title: field, align: 'right' as const })),
];

function activityRows(view: View, some: readonly TimedActivity[]): Cell[][] {
  return some.map((one) => [
    moment(one.at, view, 'minute'),
    ...activityFields.map((field) => amount(one[field])),
  ]);
}

export const activityFields = ['requests', 'found', 'held', 'failed'] as const;

export type TimedActivity = NonNullable<Status['activity']>['ticks'][number];

/** Commands that have changed something, newest first. */
export const historyColumns = ['when', 'command', 'outcome', 'by', 'settings'].map((title) => ({
  title,
}));

export function historyRows(view: View, history: readonly Recorded[]): Cell[][] {
  return history.map(({ at, command, by = 'unknown', settings, outcome }): Cell[] => {
    const told = Object.entries(settings)
      .filter(([, value]) => value !== false)
      .map(
        ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      );
    return [moment(at, view), command, outcomeOf(view, at, outcome), by, told.join(' ')];
  });
}

type Recorded = NonNullable<Status['history']>[number];

function outcomeOf(view: View, at: string, outcome: Recorded['outcome']): Cell {
  if (outcome === undefined)
    return ['warning', msSince(at, view) < longestCallMs ? 'under way' : 'no answer'];
  const { rest } = outcome;
  // A cursor that begins with a day shows people the progress.
  const upTo = /^\d{4}-/.test(rest?.after ?? '') ? `, done up to ${rest?.after}` : '';
  if (!outcome.ok) return ['bad', `${outcome.code ?? 'failed'}${upTo}`];
  if (rest !== undefined) return ['warning', `not finished${upTo}`];
  return outcome.changed === false ? ['faint', 'changed nothing'] : ['good', 'done'];
}
