import { styleText } from 'node:util';
import type { NotifierError } from '../../lambda/errors.ts';
import { type ConformanceReport, exitCode } from './suite.ts';
import type { CheckVerdict } from './verdict.ts';

const style = { pass: 'green', fail: 'red', 'cannot tell': 'yellow' } as const;

const conclusion = {
  0: 'Nothing contradicts the document.',
  1: 'This host contradicts the document.',
  2: 'Nothing contradicts the document, but some checks could not be carried out.',
} as const;

type Mark = (verdict: CheckVerdict['verdict']) => string;

/** The report for people. */
export function toText(report: ConformanceReport, isColoured = false): string {
  const mark: Mark = (verdict) => {
    const text = verdict.padEnd(13);
    return isColoured ? styleText(style[verdict], text, { validateStream: false }) : text;
  };
  const { sections, observations, requests, medianMs, slowestMs } = report;
  const lines = sections.flatMap(({ id, title, verdict, checks }) => {
    const passed = checks.filter((check) => check.verdict.verdict === 'pass').length;
    return [
      `${id.padEnd(5)}${title.padEnd(34)}${mark(verdict)}${passed} of ${checks.length}`,
      ...checks.flatMap(({ name, verdict }) => linesOf(name, verdict, mark)),
    ];
  });
  return [
    `${'§'.padEnd(5)}${'section'.padEnd(34)}${'verdict'.padEnd(13)}checks passed`,
    ...lines,
    '',
    'Where the document is silent',
    ...observations.flatMap(({ question, answer }) => [`  ${question}`, `      ${answer}`]),
    '',
    `${conclusion[exitCode(report)]} ${requests} requests, ${medianMs} ms each (median), ${slowestMs} ms at most.`,
  ].join('\n');
}

function linesOf(name: string, verdict: CheckVerdict, mark: Mark): string[] {
  if (verdict.verdict === 'pass') return [];
  const head = `${' '.repeat(5)}${mark(verdict.verdict)}${name}`;
  if (verdict.verdict === 'cannot tell') return [`${head}: ${verdict.why}`];
  const indent = ' '.repeat(18);
  return [head, `${indent}expected  ${verdict.expected}`, `${indent}seen      ${verdict.seen}`];
}

/** The report for machines; one object. */
export function toJson(baseUrl: string, report: ConformanceReport): string {
  const code = exitCode(report);
  return JSON.stringify(
    { baseUrl, exitCode: code, conclusion: conclusion[code], ...report },
    null,
    2,
  );
}

/** The same for a run that ended early. */
export function errorToJson(error: NotifierError): string {
  const { code, message, whatToDo } = error;
  return JSON.stringify({ exitCode: 2, error: { code, message, whatToDo } }, null, 2);
}
