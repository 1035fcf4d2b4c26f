import type { Html } from '../html.ts';
import { html } from '../library.ts';

/** How a day looks. Each mark is a class of the style sheet. */
export const marks = ['proven', 'empty', 'open', 'due', 'unproven', 'not-yet'] as const;
export type Mark = (typeof marks)[number];

/** A day, with the text of its tooltip; absent: the meaning of its colour says all. */
export interface MarkedDay {
  /** `YYYY-MM-DD` */
  readonly day: string;
  readonly mark: Mark;
  readonly told?: string | undefined;
}

/** Equal days in a row within a year. */
interface Run extends MarkedDay {
  readonly to: string;
  readonly row: number;
  readonly column: number;
  readonly length: number;
}

const cell = { width: 3, height: 11 };
const rowHeight = 13;
const left = 34;
const top = 16;
/** All years have the days of a leap year, so that months stand below each other. */
const monthLengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const monthNames = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const monthStarts = monthLengths.map((_, month) =>
  monthLengths.slice(0, month).reduce((sum, length) => sum + length, 0),
);
const width = left + 366 * cell.width;

/**
 * A row for each year, the newest on top, and a cell for each day. Equal days in a row are one shape. Shapes without a
 * tooltip share a path for each mark and year.
 *
 * @param days in order
 */
export function heatMap(
  days: readonly MarkedDay[],
  { id, title, description }: { readonly id: string; title: string; description: string },
): Html {
  const years = [...new Set(days.map(({ day }) => day.slice(0, 4)))].reverse();
  const runs = runsOf(days, new Map(years.map((year, row) => [year, row])));
  const byRow = Map.groupBy(runs, ({ row }) => row);
  const height = top + years.length * rowHeight;
  return html`<svg role="img" aria-labelledby="${id}-title ${id}-description" viewBox="0 0 ${width} ${height}">
<title id="${id}-title">${title}</title><desc id="${id}-description">${description}</desc>
${monthNames.map((name, month) => html`<text x="${left + (monthStarts[month] ?? 0) * cell.width}" y="11">${name}</text>`)}
${years.map((year, row) => html`<text x="0" y="${yOf(row) + 10}">${year}</text>${rowOf(byRow.get(row) ?? [])}`)}
</svg>`;
}

const yOf = (row: number) => top + row * rowHeight;

function rowOf(runs: readonly Run[]): Html {
  const [alone, alike] = [
    runs.filter(({ told }) => told !== undefined),
    runs.filter(({ told }) => told === undefined),
  ];
  const paths = [...Map.groupBy(alike, ({ mark }) => mark)].map(
    ([mark, some]) => html`<path class="${mark}" d="${some.map(outline).join('')}"/>`,
  );
  const shapes = alone.map(
    (run) =>
      html`<path class="${run.mark}" d="${outline(run)}"><title>${run.day === run.to ? run.day : `${run.day} to ${run.to}`}: ${run.told}</title></path>`,
  );
  return html`${paths}${shapes}`;
}

function outline({ row, column, length }: Run): string {
  const wide = length * cell.width;
  return `M${left + column * cell.width} ${yOf(row)}h${wide}v${cell.height}h-${wide}z`;
}

function runsOf(days: readonly MarkedDay[], rows: ReadonlyMap<string, number>): Run[] {
  const runs: Run[] = [];
  for (const { day, mark, told } of days) {
    const row = rows.get(day.slice(0, 4)) ?? 0;
    const column = columnOf(day);
    const last = runs.at(-1);
    const isNext = last?.row === row && last.column + last.length === column;
    if (isNext && last.mark === mark && last.told === told)
      runs[runs.length - 1] = { ...last, to: day, length: last.length + 1 };
    else runs.push({ day, to: day, mark, told, row, column, length: 1 });
  }
  return runs;
}

function columnOf(day: string): number {
  return (monthStarts[Number(day.slice(5, 7)) - 1] ?? 0) + Number(day.slice(8)) - 1;
}

/** The meaning of each colour. */
export function heatMapKey(meanings: Readonly<Record<Mark, string>>): Html {
  return html`<ul class="key">${marks.map(
    (mark) =>
      html`<li><svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><path class="${mark}" d="M0 0h12v12h-12z"/></svg> ${meanings[mark]}</li>`,
  )}</ul>`;
}
