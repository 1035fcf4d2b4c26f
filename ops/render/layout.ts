import type { Now } from './time.ts';

/** The meaning of a text, which decides its colour. */
export type Tone = 'plain' | 'strong' | 'faint' | 'good' | 'warning' | 'bad';

/** The time, the time zone and the colours of the reader. */
export interface View extends Now {
  paint(tone: Tone, text: string): string;
}

/** Where more is told or done: a command line prints the command, and a page leads to its page. */
export interface More {
  readonly says: string;
  readonly ops: string;
}

/** A text, with its tone if it has one, and with more. */
export type Cell = string | readonly [tone: Tone, text: string, more?: More];

/** Names and values, aligned. Undefined values are left out. */
export function facts(
  view: View,
  entries: readonly (readonly [name: string, value: Cell | undefined])[],
  indent = '  ',
): string[] {
  const shown = entries.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  const width = Math.max(0, ...shown.map(({ name }) => name.length));
  return shown.map(
    ({ name, value }) =>
      `${indent}${view.paint('faint', name.padEnd(width))}  ${painted(view, value)}`,
  );
}

export interface Column {
  readonly title: string;
  readonly align?: 'right';
}

/** A line of titles, and a line for each row. The last column is not padded. */
export function table(
  view: View,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  indent = '  ',
): string[] {
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...rows.map((row) => textOf(row[index] ?? '').length)),
  );
  const line = (cells: readonly Cell[]) => {
    const aligned = cells.map((cell, index) => {
      const blank = ' '.repeat(Math.max(0, (widths[index] ?? 0) - textOf(cell).length));
      if (columns[index]?.align === 'right') return blank + painted(view, cell);
      return painted(view, cell) + (index === cells.length - 1 ? '' : blank);
    });
    return `${indent}${aligned.join('  ')}`.trimEnd();
  };
  const titles = columns.map(({ title }): Cell => ['faint', title]);
  return [...(columns.some(({ title }) => title !== '') ? [line(titles)] : []), ...rows.map(line)];
}

export function painted(view: View, cell: Cell): string {
  return typeof cell === 'string' ? cell : view.paint(cell[0], textOf(cell));
}

export function textOf(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  const [, text, more] = cell;
  return more ? `${text} ${more.says}: ${more.ops}` : text;
}
