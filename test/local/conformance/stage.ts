import { onTestFinished } from 'vitest';
import type { HostOptions } from '../../../local/conformance/host.ts';
import { type ConformanceReport, checkHost } from '../../../local/conformance/suite.ts';
import type { CheckVerdict } from '../../../local/conformance/verdict.ts';
import {
  type PartnerSandbox,
  type SandboxOptions,
  startPartnerSandbox,
} from '../../../local/partner-sandbox/index.ts';

export const allForms = ['form', 'basic', 'json'] as const;

/** A sandbox until the test ends. */
export async function sandboxWith(options: SandboxOptions = {}): Promise<PartnerSandbox> {
  const sandbox = await startPartnerSandbox(options);
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** Runs the suite against a sandbox. It waits no longer than the host asks. */
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

/** `section: check`, with the observation or the reason why there is no verdict. */
export function checksThat(report: ConformanceReport, wanted: CheckVerdict['verdict']): string[] {
  return report.sections.flatMap(({ id, checks }) =>
    checks.flatMap(({ name, verdict }) => (verdict.verdict === wanted ? [`${id}: ${name}`] : [])),
  );
}

export function answerTo(report: ConformanceReport, question: RegExp): string | undefined {
  return report.observations.find((observation) => question.test(observation.question))?.answer;
}
