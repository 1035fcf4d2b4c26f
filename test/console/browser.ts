import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { describe } from 'vitest';
import { executablePath } from './chromium.ts';

/** A block of tests that need a browser. Without one, they are reported as skipped, with the reason. */
export function describeInBrowser(title: string, tests: () => void): void {
  const reason = '(skipped: there is no Chromium, Chrome or Edge here)';
  if (executablePath === undefined) describe.skip(`${title} ${reason}`, tests);
  else describe(title, tests);
}

/** The browser's complaints about a page from now on: errors, violations of the policy, failed loads. */
export function complaints(page: Page): readonly string[] {
  const all: string[] = [];
  page.on('console', (entry) => {
    if (['error', 'warning'].includes(entry.type())) all.push(entry.text());
  });
  page.on('pageerror', (error) => all.push(String(error)));
  page.on('response', (answer) => {
    if (answer.status() >= 400) all.push(`${answer.status()} ${answer.url()}`);
  });
  page.on('requestfailed', (request) => {
    // A browser that opens another page stops reading the last one's stream.
    const isLeft = request.failure()?.errorText === 'net::ERR_ABORTED';
    if (!isLeft) all.push(`${request.failure()?.errorText} ${request.url()}`);
  });
  return all;
}

/** The findings of axe on a page: the rule, its text, and the place. */
export async function barriers(page: Page): Promise<readonly string[]> {
  // The page's policy does not bind the debugger's protocol.
  const isThere = await page.evaluate<boolean>('"axe" in window');
  if (!isThere) await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(
    'axe.run({ resultTypes: ["violations"], preload: false })',
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help} (${target}) ${failureSummary}`),
  );
}
