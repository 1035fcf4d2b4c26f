import type { ScoreRow } from './score.ts';

/** For a terminal that does not fill the screen. */
const mostColumns = 120;

const columns = [
  'contender',
  'requests',
  'read units',
  'write units',
  'DB calls',
  'publishes',
  'lost',
  'twice',
  'ms',
] as const;
const indent = '  ';

/** The rows for a terminal: by case, with the figures below each other, and remarks below these. */
export function tableOf(rows: readonly ScoreRow[]): string {
  const widths = columns.map((name, index) =>
    Math.max(name.length, ...rows.map((row) => cellsOf(row)[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) => {
    const aligned = cells.map((cell, index) => {
      const width = widths[index] ?? 0;
      return index === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    return `${indent}${aligned.join('  ')}`;
  };
  const cases = [...Map.groupBy(rows, ({ case: name }) => name)];
  return [
    line(columns),
    ...cases.flatMap(([name, ofCase]) => [
      '',
      ...folded(name, ''),
      ...ofCase.flatMap((row) => [line(cellsOf(row)), ...notesOf(row)]),
    ]),
  ].join('\n');
}

function cellsOf({ contender, measured, score }: ScoreRow): string[] {
  const calls = Object.values(measured?.calls ?? {}).reduce((sum, count) => sum + count, 0);
  return [
    contender,
    number(measured?.requests),
    number(measured?.readUnits),
    number(measured?.writeUnits),
    number(measured && calls),
    number(measured?.publishes),
    score ? `${number(score.lost)} of ${number(score.happened)}` : '–',
    score ? number(score.twice) : '–',
    number(measured && Math.round(measured.ms)),
  ];
}

function notesOf({ further, target }: ScoreRow): string[] {
  const figures = Object.entries(further ?? {}).map(([what, value]) => `${what}: ${value}`);
  return [
    ...(target ? [`${target.passed ? 'pass' : 'FAIL'}: ${target.text}`] : []),
    ...(figures.length > 0 ? [figures.join('; ')] : []),
  ].flatMap((note) => folded(note, indent.repeat(3)));
}

/** Breaks a long line between words, and indents the rest. */
function folded(text: string, before: string): string[] {
  const lines: string[] = [];
  let line = before;
  for (const word of text.split(' ')) {
    if (line.trim() !== '' && line.length + word.length >= mostColumns) {
      lines.push(line);
      line = before + indent;
    }
    line += line.trim() === '' ? word : ` ${word}`;
  }
  return [...lines, line];
}

const number = (value: number | undefined) =>
  value === undefined ? '–' : value.toLocaleString('en', { maximumFractionDigits: 1 });
