import { existsSync } from 'node:fs';
import { join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import {
  type BrowserContext,
  type Browser as Chromium,
  chromium,
  type Page,
} from 'playwright-core';
import { describe } from 'vitest';

const { ProgramFiles = '', LOCALAPPDATA = '' } = process.env;
const { 'ProgramFiles(x86)': programFiles86 = '' } = process.env;
const onWindows = ['Google/Chrome/Application/chrome.exe', 'Microsoft/Edge/Application/msedge.exe'];

/** Where a Chromium may be, Debian's first. */
const places: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ['/usr/bin/chromium', '/opt/google/chrome/chrome', '/opt/microsoft/msedge/msedge'],
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  win32: [ProgramFiles, programFiles86, LOCALAPPDATA].flatMap((folder) =>
    onWindows.map((program) => join(folder, program)),
  ),
};
const executablePath = places[process.platform]?.find((place) => existsSync(place));

/** A block of tests that need a browser; without one, they are reported as skipped, and why. */
export function describeInBrowser(title: string, tests: () => void): void {
  const reason = '(skipped: there is no Chromium, Chrome or Edge here)';
  if (executablePath === undefined) describe.skip(`${title} ${reason}`, tests);
  else describe(title, tests);
}

interface Reader {
  readonly colorScheme: 'light' | 'dark';
  /** Pixels. */
  readonly width: number;
  readonly javaScriptEnabled: boolean;
}

/** A real Chromium, without a window. */
export class Browser implements AsyncDisposable {
  readonly #chromium: Chromium;

  private constructor(chromium: Chromium) {
    this.#chromium = chromium;
  }

  static async open(): Promise<Browser> {
    const isRoot = process.getuid?.() === 0;
    const options = { chromiumSandbox: !isRoot, handleSIGINT: false, handleSIGTERM: false };
    return new Browser(
      await chromium.launch({
        ...options,
        ...(executablePath !== undefined && { executablePath }),
        handleSIGHUP: false,
      }),
    );
  }

  /** Somebody who has just sat down in front of it. */
  async reader(reader: Partial<Reader> = {}): Promise<BrowserContext> {
    const { colorScheme = 'light', width = 1440, javaScriptEnabled = true } = reader;
    const viewport = { width, height: 900 };
    const context = await this.#chromium.newContext({ colorScheme, viewport, javaScriptEnabled });
    // Far above what anything takes, and below the limit of a test, which would not say what it waited for.
    context.setDefaultTimeout(30_000);
    return context;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#chromium.close();
  }
}

/** What the browser holds against a page, from now on: errors, violations of the policy, what could not be loaded. */
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
    // Whoever goes on to another page hears the last one's stream no longer.
    const isLeft = request.failure()?.errorText === 'net::ERR_ABORTED';
    if (!isLeft) all.push(`${request.failure()?.errorText} ${request.url()}`);
  });
  return all;
}

/** What axe finds on a page: the rule, what it says, and where. */
export async function barriers(page: Page): Promise<readonly string[]> {
  // Through the debugger's protocol, which the page's policy does not bind.
  const isThere = await page.evaluate<boolean>('"axe" in window');
  if (!isThere) await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(
    'axe.run({ resultTypes: ["violations"], preload: false })',
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help} (${target}) ${failureSummary}`),
  );
}
