import type { ResultOf } from '../../lambda/operations/contract.ts';
import { baselineLine } from './baseline.ts';
import { type Cell, facts, table, type View } from './layout.ts';
import { amount, count, counts } from './text.ts';
import { distance, limit, moment, momentAndDistance } from './time.ts';

type Status = ResultOf<'status'>;

/** Per integration: up to date, or why not, and what there is to know besides. */
export function statusLines(view: View, status: Status): string[] {
  const { settings, today } = status;
  const { day, ...changes } = today;
  return [
    `${view.paint('strong', settings.integration)}  ${standing(view, status)}`,
    ...facts(view, [
      ['partner', `${settings.baseUrl}, days in ${settings.timeZone}`],
      ['last tick', lastTick(view, status)],
      [
        'baseline',
        status.baseline.status === 'completed' ? undefined : baselineLine(status.baseline),
      ],
      ['certifications', total(status)],
      ['today', `${counts(changes, 'no changes')} (${day})`],
      ['waiting', waiting(status)],
      ['oldest proof', oldestProof(view, status)],
      ['unproven', unproven(status)],
    ]),
    '',
    ...detection(view, status),
    ...notices(view, status),
    ...history(view, status),
  ];
}

function standing(view: View, { standing, paused, backingOff, busy }: Status): string {
  const at = busy ? view.paint('faint', '  (at work)') : '';
  const say = (tone: 'good' | 'warning' | 'bad', text: string) => view.paint(tone, text) + at;
  switch (standing) {
    case 'never-ticked':
      return say('bad', 'no tick has ever come to its end');
    case 'paused': {
      const { since, by, reason } = paused ?? {};
      const from = since === undefined ? '' : ` since ${moment(since, view)}`;
      const who = by === undefined ? '' : ` by ${by}`;
      return say('warning', `paused${from}${who}${reason === undefined ? '' : `: ${reason}`}`);
    }
    case 'backing-off':
      return say(
        'bad',
        backingOff === undefined
          ? 'the partner is left alone after refusals'
          : `the partner is left alone until ${moment(backingOff.until, view)}, after ${count(backingOff.failures, 'refusal')}`,
      );
    case 'baseline':
      return say('warning', 'reads the baseline: nothing is announced yet');
    case 'behind':
      return say('bad', 'behind: ticks do not come to their end');
    case 'owing':
      return say('warning', 'up to date, but events are still to be delivered');
    case 'up-to-date':
      return say('good', 'up to date');
  }
}

function lastTick(view: View, { lastTick, nextTick }: Status): string {
  const last = lastTick === undefined ? 'none' : momentAndDistance(lastTick, view);
  return nextTick === undefined ? last : `${last}, next ${next(nextTick, view)}`;
}

function next(at: string, view: View): string {
  const away = distance(at, view);
  return away.startsWith('in ') ? away : 'any moment';
}

function total({ certifications, partner, unexplained, collapsedFrom }: Status): Cell {
  const known = `${amount(certifications)} known`;
  if (partner === undefined) return known;
  if ('problem' in partner)
    return ['warning', `${known}; the partner gives no total: ${partner.problem.message}`];
  const theirs = `${known}, ${amount(partner.count)} at the partner`;
  if (collapsedFrom !== undefined)
    return [
      'bad',
      `${theirs}: less than half of the ${amount(collapsedFrom)} before. If that is right: accept-total ${partner.count}`,
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

function oldestProof(view: View, { oldestProof: { recent, history } }: Status): string {
  const told = (part: string, proof: typeof recent) =>
    proof === undefined ? [] : [`${part} ${distance(proof.at, view)} (${proof.day})`];
  return [...told('recent days', recent), ...told('history', history)].join(', ') || 'none';
}

function unproven({ unproven: { days, first } }: Status): Cell | undefined {
  if (days === 0) return undefined;
  const shown = first.slice(0, 5).map(({ day }) => day);
  const more = days > shown.length ? ` and ${amount(days - shown.length)} more` : '';
  return ['warning', `${count(days, 'day')}: ${shown.join(', ')}${more}`];
}

const changes: Readonly<Record<Status['detection'][number]['change'], string>> = {
  new: 'new',
  withdrawn: 'withdrawn',
  restored: 'restored',
  'edited-newest': 'edited, among the newest',
  'edited-recent': 'edited, in the recent days',
  'edited-history': 'edited, before that',
  replaced: 'one gone and one new on an old day',
};
const means = { total: 'the total', page: 'the newest page', audit: 'an audit' } as const;

/** Changes that are found alike share a line. */
function detection(view: View, { detection }: Status): string[] {
  const alike = Map.groupBy(detection, ({ minutes, by }) => `${minutes} ${by}`);
  const rows = [...alike.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const kinds = group.map(({ change }) => changes[change]).join(', ');
    return [[limit(first.minutes), kinds, means[first.by]]];
  });
  const columns = [{ title: 'found within' }, { title: 'changes' }, { title: 'by' }];
  return table(view, columns, rows);
}

function notices(view: View, { conditions }: Status): string[] {
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

function history(view: View, { history }: Status): string[] {
  if (history === undefined) return [];
  const rows = history.map(({ at, command, by = 'unknown', settings, outcome }): Cell[] => {
    const told = Object.entries(settings)
      .filter(([, value]) => value !== false)
      .map(
        ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      );
    return [moment(at, view), command, outcomeOf(outcome), by, told.join(' ')];
  });
  const columns = ['when', 'command', 'outcome', 'by', 'settings'].map((title) => ({ title }));
  return [
    '',
    ...(rows.length === 0 ? ['  No command has changed anything.'] : table(view, columns, rows)),
  ];
}

function outcomeOf(outcome: NonNullable<Status['history']>[number]['outcome']): Cell {
  if (outcome === undefined) return ['warning', 'no answer'];
  return outcome.ok ? ['good', 'done'] : ['bad', outcome.code ?? 'failed'];
}
