import type { HostOptions } from '../../../local/conformance/host.ts';
import { type ConformanceReport, checkHost } from '../../../local/conformance/suite.ts';
import type { CheckVerdict } from '../../../local/conformance/verdict.ts';
import type { PartnerSandbox } from '../../../local/partner-sandbox/index.ts';

export const allForms = ['form', 'basic', 'json'] as const;

/** The suite against a sandbox; never waits longer than the host asks for. */
export async function check(
  { url, credentials }: Pick<PartnerSandbox, 'url' | 'credentials'>,
  options: Partial<HostOptions> = {},
): Promise<ConformanceReport> {
  return await checkHost({
    baseUrl: url,
    credentials,
    forms: allForms,
    random: () => 0,
    ...options,
  });
}

export function sectionsThat(
  report: ConformanceReport,
  verdict: CheckVerdict['verdict'],
): string[] {
  return report.sections.flatMap((section) => (section.verdict === verdict ? [section.id] : []));
}

/** `section: check`, with what was seen or why it cannot be told. */
export function checksThat(report: ConformanceReport, wanted: CheckVerdict['verdict']): string[] {
  return report.sections.flatMap(({ id, checks }) =>
    checks.flatMap(({ name, verdict }) => (verdict.verdict === wanted ? [`${id}: ${name}`] : [])),
  );
}

export function answerTo(report: ConformanceReport, question: RegExp): string | undefined {
  return report.observations.find((observation) => question.test(observation.question))?.answer;
}
