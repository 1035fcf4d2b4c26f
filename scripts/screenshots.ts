import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { run } from '../local/run.ts';
import { Browser } from '../test/console/chromium.ts';
import { RunningProgram } from '../test/support/running.ts';

/**
 * The pictures of docs/operations.md#console. `npm start` runs with its invented partner and provocations until each
 * page has content. README shows the page Proof in dark, too. Needs a Chromium, Chrome or Edge.
 */
const folder = fileURLToPath(new URL('../docs/console', import.meta.url));
const width = 1_200;
/** A longer page is cut. */
const mostHeight = 760;
const integration = 'district-a';

interface Picture {
  readonly name: string;
  readonly path: string;
}

const environment = { NOTIFIER_LOCAL: await mkdtemp(join(tmpdir(), 'screenshots-')) };
const started = new RunningProgram(run, ['--port', '0', '--every', '1'], { environment });
await mkdir(folder, { recursive: true });
{
  await using browser = await Browser.open();
  await started.shows(/created .* district-a/);
  const [url = ''] = /http:\S+/.exec(started.output.text) ?? [];
  const pictures = await provoked(browser, url);
  for (const { name, path } of pictures) {
    const colorScheme = name.endsWith('-dark') ? 'dark' : 'light';
    await using reader = await browser.reader({ colorScheme, width });
    const page = await reader.newPage();
    await page.goto(new URL(path, url).href);
    await photograph(page, join(folder, `${name}.png`));
  }
}
started.interrupt();
await started.ended;
await rm(environment.NOTIFIER_LOCAL, { recursive: true });

/** Provokes until each page has content. */
async function provoked(browser: Browser, url: string): Promise<readonly Picture[]> {
  await using reader = await browser.reader({ width });
  const page = await reader.newPage();
  const at = (path: string) => new URL(path, url).href;
  const provoke = async (title: string) => {
    await page.goto(at('provoke'));
    await page.getByRole('button', { name: title }).click();
    await page.waitForLoadState();
  };
  for (const title of ['Certify somebody', 'Backdate one', 'Remove one']) await provoke(title);
  // A certification that no tick has seen yet would be announced with its later edits.
  for (
    let tries = 0;
    tries < 20 && !/updated .* district-a/.test(started.output.text);
    tries += 1
  ) {
    await provoke('Edit the newest');
    await page.waitForTimeout(2_500);
  }
  await provoke('Certify 2,000 at once');
  await started.shows(/notice .*held/);
  await started.shows(/withdrawn .* district-a/);
  await page.goto(at(`i/${integration}/events?type=updated`));
  const life = await page.locator('main a[href*="certifications"]').first().getAttribute('href');
  const of = (path: string) => `i/${integration}/${path}`;
  return [
    { name: 'now', path: of('now') },
    { name: 'events', path: of('events') },
    { name: 'certification', path: life ?? '' },
    { name: 'proof', path: of('proof') },
    { name: 'proof-dark', path: of('proof') },
    { name: 'held', path: of('held') },
    { name: 'notices', path: of('notices') },
    { name: 'command', path: of('commands/prove?from=2026-11-01&to=2026-11-30') },
    { name: 'provoke', path: 'provoke' },
  ];
}

/** Photographs a page as far down as it has content. */
async function photograph(page: Page, path: string): Promise<void> {
  const { height = mostHeight } = (await page.locator('body').boundingBox()) ?? {};
  const clip = { x: 0, y: 0, width, height: Math.min(height, mostHeight) };
  await page.screenshot({ path, clip, fullPage: true });
}
