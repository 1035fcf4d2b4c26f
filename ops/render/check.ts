import type { ResultOf } from '../../lambda/commands/contract.ts';
import { type Cell, painted, type View } from './layout.ts';
import { given } from './text.ts';
import { told } from './time.ts';

type Checked = ResultOf<'check'>;

/** One check, by the function or by the command line itself. */
export interface ShownCheck {
  readonly name: string;
  readonly outcome: Checked['checks'][number]['outcome'];
  readonly found: string;
  readonly whatToDo?: string | undefined;
  readonly code?: string | undefined;
}

const marks: Readonly<Record<ShownCheck['outcome'], Cell>> = {
  ok: ['good', 'ok     '],
  warning: ['warning', 'warning'],
  failed: ['bad', 'failed '],
  skipped: ['faint', 'skipped'],
};

/** The checks in order, each failure with its advice. */
export function checkLines(
  view: View,
  integration: string,
  checks: readonly ShownCheck[],
): string[] {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const blank = ' '.repeat(width);
  return [
    view.paint('strong', integration),
    ...checks.flatMap(({ name, outcome, found, whatToDo, code }) =>
      given(
        `  ${painted(view, marks[outcome])}  ${name.padEnd(width)}  ${told(found, view)}`,
        whatToDo && `           ${blank}  → ${whatToDo}`,
        code && `           ${blank}  ${view.paint('faint', `(${code})`)}`,
      ),
    ),
  ];
}
