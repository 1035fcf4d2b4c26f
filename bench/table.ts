import type { Row } from './score.ts';

const columns = [
  'case',
  'contender',
  'requests',
  'read units',
  'write units',
  'DynamoDB calls',
  'publishes',
  'lost',
  'twice',
  'ms',
  'target',
  '',
] as const;

/** The rows as a Markdown table, which reads as well on a terminal. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(cellsOf);
  const widths = columns.map((name, index) =>
    Math.max(name.length, ...lines.map((cells) => cells[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [line(columns), rule, ...lines.map(line)].join('\n');
}

function cellsOf({ case: name, contender, measured, score, further, target }: Row): string[] {
  const calls = Object.values(measured?.calls ?? {}).reduce((sum, count) => sum + count, 0);
  const notes = Object.entries(further ?? {}).map(([what, value]) => `${what}: ${value}`);
  return [
    [name, ...notes].join('; '),
    contender,
    number(measured?.requests),
    number(measured?.readUnits),
    number(measured?.writeUnits),
    number(measured && calls),
    number(measured?.publishes),
    score ? `${score.lost} of ${score.happened}` : '–',
    score ? number(score.twice) : '–',
    number(measured && Math.round(measured.ms)),
    target?.text ?? '',
    target === undefined ? '' : target.passed ? 'pass' : 'FAIL',
  ];
}

const number = (value: number | undefined) =>
  value === undefined ? '–' : value.toLocaleString('en', { maximumFractionDigits: 1 });
