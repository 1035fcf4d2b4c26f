import type * as z from 'zod';
import type { checkResult } from '../../lambda/operations/result.ts';
import type { Cell, View } from './layout.ts';
import { facts } from './layout.ts';

type Checked = z.output<typeof checkResult>;

/** One thing that was tried: by the function, or by the command line itself. */
export interface Check {
  readonly name: string;
  readonly outcome: Checked['checks'][number]['outcome'];
  readonly found: string;
  readonly whatToDo?: string | undefined;
  readonly code?: string | undefined;
}

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
      const told = typeof mark === 'string' ? mark : view.paint(...mark);
      return [
        `  ${told}  ${name.padEnd(width)}  ${found}`,
        ...(whatToDo === undefined ? [] : [`           ${blank}  → ${whatToDo}`]),
        ...(code === undefined ? [] : [`           ${blank}  ${view.paint('faint', `(${code})`)}`]),
      ];
    }),
    ...(scope === undefined ? [] : ['', ...scopeLines(view, scope)]),
  ];
}

function scopeLines(view: View, { organizations, assessments }: NonNullable<Checked['scope']>) {
  return facts(view, [
    [
      'organizations',
      organizations.map(({ organization_id, name }) => `${organization_id} ${name}`).join(', ') ||
        'none',
    ],
    ['assessments', assessments.join(', ') || 'none'],
    ['', ['faint', 'by the newest page; there may be more']],
  ]);
}
