import type { ResultOf } from '../../lambda/operations/contract.ts';
import type { Cell, View } from './layout.ts';
import { told } from './time.ts';

type Checked = ResultOf<'check'>;

/** One thing that was tried: by the function, or by the command line itself. */
export interface Check {
  readonly name: string;
  readonly outcome: Checked['checks'][number]['outcome'];
  readonly found: string;
  readonly whatToDo?: string | undefined;
  readonly code?: string | undefined;
}

const entriesShown = 20;

const marks: Readonly<Record<Check['outcome'], Cell>> = {
  ok: ['good', 'ok     '],
  warning: ['warning', 'warning'],
  failed: ['bad', 'failed '],
  skipped: ['faint', 'skipped'],
};

/** What was tried, in order, with what to do about each failure. */
export function checkLines(
  view: View,
  integration: string,
  checks: readonly Check[],
  scope: Checked['scope'],
): string[] {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const blank = ' '.repeat(width);
  return [
    view.paint('strong', integration),
    ...checks.flatMap(({ name, outcome, found, whatToDo, code }) => {
      const mark = marks[outcome];
      const painted = typeof mark === 'string' ? mark : view.paint(...mark);
      return [
        `  ${painted}  ${name.padEnd(width)}  ${told(found, view)}`,
        ...(whatToDo === undefined ? [] : [`           ${blank}  → ${whatToDo}`]),
        ...(code === undefined ? [] : [`           ${blank}  ${view.paint('faint', `(${code})`)}`]),
      ];
    }),
    ...(scope === undefined ? [] : ['', ...scopeLines(view, scope)]),
  ];
}

function scopeLines(view: View, { organizations, assessments }: NonNullable<Checked['scope']>) {
  const named = organizations.map(
    ({ organization_id: id, name }) => `${id}  ${name ?? 'without a name'}`,
  );
  return [
    view.paint('faint', '  In scope, by the newest page (there may be more)'),
    ...listed('organizations', named),
    ...listed('assessments', assessments),
  ];
}

function listed(title: string, entries: readonly string[]): string[] {
  const shown = entries.slice(0, entriesShown);
  const more = entries.length - shown.length;
  return [
    `  ${title}${entries.length === 0 ? ': none' : ''}`,
    ...shown.map((entry) => `    ${entry}`),
    ...(more > 0 ? [`    and ${more} more`] : []),
  ];
}
