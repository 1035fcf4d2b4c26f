import axe, { type AxeResults } from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Console, serveConsole } from '../../console/index.ts';
import { ofIntegration } from '../../console/layout.ts';
import type { Integration } from '../scaffold/integration.ts';
import { assessment } from '../support/assessments.ts';
import { Browser, executablePath } from './chromium.ts';
import { eventful, seenOf } from './eventful.ts';
import { IntegrationDoor } from './integration-door.ts';

/** The browser's complaints about a page from now on: errors, violations of the policy, failed loads. */
function complaints(page: Page): readonly string[] {
  const all: string[] = [];
  page.on('console', (entry) => {
    if (['error', 'warning'].includes(entry.type())) all.push(entry.text());
  });
  page.on('pageerror', (error) => all.push(String(error)));
  return all;
}

/** The findings of axe on a page: the rule, its text, and the place. */
async function barriers(page: Page): Promise<readonly string[]> {
  // The page's policy does not bind the debugger's protocol.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(
    'axe.run({ resultTypes: ["violations"], preload: false })',
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help} (${target}) ${failureSummary}`),
  );
}

const reason = executablePath === undefined ? ' (skipped: no Chromium, Chrome or Edge here)' : '';
describe.skipIf(reason)(`the console in a browser${reason}`, () => {
  let browser: Browser;
  let story: Integration;
  let seen: ReturnType<typeof seenOf>;
  let served: Console;
  let reader: BrowserContext;
  let page: Page;
  let complained: readonly string[];

  beforeAll(async () => {
    browser = await Browser.open();
  });
  afterAll(() => browser[Symbol.asyncDispose]());
  beforeEach(async () => {
    story = await eventful();
    seen = seenOf(story);
    const door = Object.assign(new IntegrationDoor(story, seen), {
      carryOut: async (...[argv, { confirm }]: Parameters<IntegrationDoor['carryOut']>) =>
        (await confirm(`Really ${argv.slice(2).join(' ')}?`)) ? 0 : 4,
    });
    served = await serveConsole(door, 0);
    seen.tell(served.changed);
    reader = await browser.reader();
    page = await reader.newPage();
    complained = complaints(page);
  });
  afterEach(async () => {
    await reader.close();
    await served[Symbol.asyncDispose]();
  });

  /** Opens a page and waits until its script has begun to listen. */
  async function open(path: string, on = page): Promise<void> {
    const listens = on.waitForResponse((answer) => /\/live\?since=\d+$/.test(answer.url()));
    const place = path.replace('i/', `i/${story.name}/`);
    await Promise.all([listens, on.goto(new URL(place, served.url).href)]);
  }

  const others =
    'i/certifications/2 i/certifications/999 i/commands/release provoke mail local/events';
  it.each([
    ...ofIntegration.map(([path]) => `i/${path}`),
    'i/proof?from=2026-11-17&to=2026-11-19',
    ...others.split(' '),
  ])('shows %s without an error or a barrier, in any light or width', async (path) => {
    await open(path);
    // Colours do not depend on the width, and overlaps do not depend on the colours.
    for (const [colorScheme, width] of [
      ['light', 360],
      ['dark', 1440],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const found = await barriers(page);
      const whole = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect({ colorScheme, whole, found }).toEqual({ colorScheme, whole: width, found: [] });
    }
    expect(complained).toEqual([]);
    expect(await page.evaluate('window.harm')).toBeUndefined();
  });

  it('shows changes in two tabs without a reload, and keeps their focus and scroll position', async () => {
    const tabs = [page, await reader.newPage()];
    const rows = (tab: Page) => tab.locator('#events .scrolls tr').count();
    const place = 'document.querySelector("#events .scrolls")';
    for (const tab of tabs) {
      await tab.setViewportSize({ width: 360, height: 900 });
      await open('i/events', tab);
      await tab.evaluate(`window.isSame = true; ${place}.focus(); ${place}.scrollLeft = 120`);
    }
    const before = await rows(page);
    story.add(assessment({ id: 21 }));
    await story.minute();
    served.changed();
    for (const tab of tabs) {
      await expect.poll(() => rows(tab), { timeout: 20_000 }).toBe(before + 1);
      const kept = `[window.isSame, ${place}.scrollLeft, document.activeElement === ${place}]`;
      expect(await tab.evaluate(kept)).toEqual([true, 120, true]);
    }
  });

  it('shows the end of a command that another tab has answered, also to a person at its buttons', async () => {
    await open('i/commands/discard');
    await page.click('button.act');
    await page.getByText('Really discard?').waitFor();
    await page.focus('button[value=no]');
    const other = await reader.newPage();
    await other.goto(page.url());
    await other.click('button[value=no]');
    await page.getByText('It has ended with ').waitFor();
  });

  it('accepts a command by keyboard alone', async () => {
    /** The focused element: a field by its name, others by their text. */
    const focused = () =>
      page.evaluate<string>(
        '(({ tagName, name, textContent }) => (tagName === "INPUT" ? name : textContent))(document.activeElement)',
      );
    const tabTo = async (wanted: string) => {
      for (let left = 40; (await focused()) !== wanted; left -= 1) {
        if (left === 0) throw new Error(`No press of Tab leads to ${wanted}.`);
        await page.keyboard.press('Tab');
      }
    };
    await open('i/commands/release');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await tabTo('year');
    await page.keyboard.type('2025');
    await page.keyboard.press('Enter');
    await page.getByText('Really release --year=2025?').waitFor();
    await tabTo('Yes');
    await page.keyboard.press('Enter');
    await page.getByText('It has ended.').waitFor();
  });

  it('shows the work of npm start live, and continues by itself when all parts are ready', async () => {
    seen.begin('loading');
    await open('');
    expect(await page.textContent('h1')).toBe('Starting');
    await page.evaluate('window.isSame = true');
    seen.begin('starting DynamoDB');
    await page.waitForSelector('li >> text=starting DynamoDB');
    // The script did this. Without it, there would be another page every three seconds.
    expect(await page.evaluate('window.isSame')).toBe(true);
    expect(await barriers(page)).toEqual([]);
    seen.ready();
    await page.waitForURL(new RegExp(`/i/${story.name}/now$`));
  });
});
