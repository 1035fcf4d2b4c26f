import type { HostOptions } from '../../../local/conformance/host.ts';
import { checkHost, type Report } from '../../../local/conformance/suite.ts';
import type { Verdict } from '../../../local/conformance/verdict.ts';
import type { PartnerSandbox } from '../../../local/partner-sandbox/index.ts';

export const allForms = ['form', 'basic', 'json'] as const;

/** The suite against a sandbox; never waits longer than the host asks for. */
export async function check(
  { url, credentials }: Pick<PartnerSandbox, 'url' | 'credentials'>,
  options: Partial<HostOptions> = {},
): Promise<Report> {
  return await checkHost({
    baseUrl: url,
    credentials,
    forms: allForms,
    random: () => 0,
    ...options,
  });
}

export function sectionsThat(report: Report, verdict: Verdict['verdict']): string[] {
  return report.sections.flatMap((section) => (section.verdict === verdict ? [section.id] : []));
}

/** `section: check`, with what was seen or why it cannot be told. */
export function checksThat(report: Report, wanted: Verdict['verdict']): string[] {
  return report.sections.flatMap(({ id, checks }) =>
    checks.flatMap(({ name, verdict }) => (verdict.verdict === wanted ? [`${id}: ${name}`] : [])),
  );
}

export function answerTo(report: Report, question: RegExp): string | undefined {
  return report.observations.find((observation) => question.test(observation.question))?.answer;
}
