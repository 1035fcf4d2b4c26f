import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { type Console, DeploymentDoor, serveConsole } from '../../console/index.ts';
import { ofIntegration } from '../../console/layout.ts';
import { systemClock } from '../../lambda/clock.ts';
import { Duty, raisedOnce } from '../ops/duty.ts';
import { barriers, complaints, describeInBrowser } from './browser.ts';
import { Browser } from './chromium.ts';

/** The clock is fifty times as quick: the console reads a deployment every 10 s. */
const briskClock = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 50, signal),
};

/** Invented names with hostile text. */
const hostile = {
  person: '<script>window.harm = 1</script>',
  organization: '<img src=x onerror="window.harm = 1">',
  product: '"><svg onload="window.harm = 1">',
};

describeInBrowser('the console in a browser', () => {
  const duty = new Duty();
  const { stage } = duty;
  /** The announced certification with hostile names. */
  let announced = 0;
  let browser: Browser;
  let door: DeploymentDoor;
  let served: Console;
  let reader: BrowserContext;
  let page: Page;
  let complained: readonly string[];

  beforeAll(() => duty.build({ integration: { holdAbove: 2 } }));
  afterAll(() => duty.dismantle());
  raisedOnce(duty, async () => {
    const { world } = stage.sandbox;
    const [product_id = 0] = world.scope.productIds;
    world.renameOrganization(stage.filtered, hostile.organization);
    world.renameProduct(product_id, hostile.product);
    await stage.completedTick();
    announced = world.add({
      organization_id: stage.filtered,
      product_id,
      name: hostile.person,
    }).id;
    expect(await stage.completedTick()).toMatchObject({ created: 1 });
    await flood('2019');
  });
  beforeAll(async () => {
    browser = await Browser.open();
    const host = { ...duty.host(), clock: briskClock };
    door = new DeploymentDoor({ title: duty.stack, stack: duty.stack, local: false }, host);
    served = await serveConsole(door, 0);
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await served[Symbol.asyncDispose]();
    door[Symbol.dispose]();
  });
  beforeEach(() => sitDown());
  afterEach(() => reader.close());

  async function sitDown(options?: Parameters<Browser['reader']>[0]): Promise<void> {
    reader = await browser.reader(options);
    page = await reader.newPage();
    complained = complaints(page);
  }

  /** Opens a page and waits until its script has begun to listen. */
  async function open(path: string, on = page): Promise<void> {
    const listens = on.waitForResponse((answer) => /\/live\?since=\d+$/.test(answer.url()));
    await Promise.all([listens, on.goto(new URL(path, served.url).href)]);
  }

  /** More certifications at once than the limit. */
  async function flood(year: string): Promise<void> {
    for (const day of ['05-06', '05-07', '05-08'])
      stage.sandbox.world.add({
        organization_id: stage.filtered,
        certified_on: `${year}-${day}`,
      });
    expect(await stage.completedTick()).toMatchObject({ held: 3 });
  }

  /** This call waits for its turn: the console may call the same function at this moment. */
  async function heldOf(year: string): Promise<number> {
    const asked = duty.start(`holds --year ${year} --json`, { clock: systemClock });
    asked.input.end();
    const { stdout } = await asked.ended;
    return z.object({ result: z.object({ events: z.int() }) }).parse(JSON.parse(stdout)).result
      .events;
  }

  /** The focused element: a field by its name, others by their text. */
  const focused = () =>
    page.evaluate<string>(
      'document.activeElement.matches("input") ? document.activeElement.name : document.activeElement.textContent',
    );

  async function tabTo(wanted: string): Promise<void> {
    for (let left = 40; left > 0; left -= 1) {
      await page.keyboard.press('Tab');
      if ((await focused()) === wanted) return;
    }
    throw new Error(`No press of Tab leads to ${wanted}.`);
  }

  /** Each page of the navigation, and the pages to which they lead. */
  const pages: readonly (readonly [page: string, path: () => string])[] = [
    ...ofIntegration.map(([path, name]) => [name, () => `i/district-a/${path}`] as const),
    ['a certificate', () => 'i/district-a/proof?from=2019-05-05&to=2019-05-09'],
    ['a certification', () => `i/district-a/certifications/${announced}`],
    ['a certification that is unknown', () => 'i/district-a/certifications/1'],
    ['a form', () => 'i/district-a/commands/release'],
    ['a command that was given', () => given],
  ];
  let given = '';
  beforeAll(async () => {
    const { origin } = new URL(served.url);
    const { url } = await fetch(new URL('i/district-a/commands/explain', served.url), {
      method: 'POST',
      headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ run: 'explained', id: String(announced) }).toString(),
    });
    given = new URL(url).pathname;
  });

  it.each(pages)('opens %s without an error, and foreign names are text there', async (_, path) => {
    await open(path());
    expect(complained).toEqual([]);
    expect(await page.evaluate('window.harm')).toBeUndefined();
    expect(await page.locator('main :is(script, img, [onload], [onerror])').count()).toBe(0);
  });

  it.each(pages)('shows no barrier of %s to axe, in any light or width', async (_, path) => {
    await open(path());
    // Colours do not depend on the width, and overlaps do not depend on the colours.
    for (const [colorScheme, width] of [
      ['light', 360],
      ['dark', 1440],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const found = await barriers(page);
      expect({ colorScheme, width, found }).toEqual({ colorScheme, width, found: [] });
      const [whole, seen] = await page.evaluate<number[]>(
        '[document.documentElement.scrollWidth, innerWidth]',
      );
      expect({ width, whole }).toEqual({ width, whole: seen });
    }
  });

  it("shows a tick's changes in two tabs, without a reload", async () => {
    const tabs = [page, await reader.newPage()];
    for (const tab of tabs) {
      await open('i/district-a/now', tab);
      await tab.evaluate('window.wasNotLoadedAgain = true');
    }
    const known = (tab: Page) => tab.locator('dt:text-is("certifications") + dd').textContent();
    const before = await known(page);
    stage.sandbox.world.add({ organization_id: stage.filtered });
    await stage.completedTick();
    for (const tab of tabs) {
      await expect.poll(() => known(tab), { timeout: 20_000 }).not.toBe(before);
      expect(await tab.evaluate('window.wasNotLoadedAgain')).toBe(true);
    }
    expect(await known(page)).toBe(await known(tabs[1] ?? page));
  });

  it('keeps the scroll position and the focus of a table that is replaced', async () => {
    await page.setViewportSize({ width: 360, height: 900 });
    await open('i/district-a/events');
    const scrolled = async () =>
      z
        .object({ left: z.number(), isFocused: z.boolean(), rows: z.number() })
        .parse(
          await page.evaluate(
            '(() => { const one = document.querySelector("#events .scrolls"); return { left: one.scrollLeft, isFocused: document.activeElement === one, rows: one.querySelectorAll("tr").length }; })()',
          ),
        );
    await page.evaluate(
      '(() => { const one = document.querySelector("#events .scrolls"); one.focus(); one.scrollLeft = 120; })()',
    );
    const { rows } = await scrolled();
    stage.sandbox.world.add({ organization_id: stage.filtered });
    await stage.completedTick();
    await expect.poll(async () => (await scrolled()).rows, { timeout: 20_000 }).toBe(rows + 1);
    expect(await scrolled()).toEqual({ left: 120, isFocused: true, rows: rows + 1 });
  });

  it('shows the end of a command that another tab has answered, also to a person at its buttons', async () => {
    await open('i/district-a/commands/discard');
    await page.click('button.act');
    await page.getByText('Tell nobody, ever, of ').waitFor();
    await page.focus('button[value=no]');
    const other = await reader.newPage();
    await other.goto(page.url());
    await other.click('button[value=no]');
    await page.getByText('It has ended with ').waitFor();
  });

  it('accepts a command by keyboard alone, and the ledger has it once the answer was yes', async () => {
    await flood('2018');
    expect(await heldOf('2018')).toBe(3);
    await open('i/district-a/commands/release');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await tabTo('year');
    await page.keyboard.type('2018');
    await page.keyboard.press('Enter');
    await page.getByText('Release 3 events?').waitFor();
    await tabTo('Yes');
    await page.keyboard.press('Enter');
    await page.getByText('It has ended.').waitFor();
    expect(await heldOf('2018')).toBe(0);
  });

  it('works with JavaScript switched off', async () => {
    await reader.close();
    await sitDown({ javaScriptEnabled: false });
    await page.goto(served.url);
    await page.getByRole('link', { name: 'Commands' }).click();
    await page.getByRole('link', { name: 'discard', exact: true }).click();
    await page.getByLabel('--year').fill('2019');
    await page.getByRole('button', { name: 'discard' }).click();
    const isAsked = async () => {
      await page.reload();
      return page.getByText('Tell nobody, ever, of 3 events?').isVisible();
    };
    await expect.poll(isAsked, { timeout: 20_000 }).toBe(true);
    await page.getByRole('button', { name: 'No' }).click();
    const hasEnded = async () => {
      await page.reload();
      return page.getByText('Not confirmed').isVisible();
    };
    await expect.poll(hasEnded, { timeout: 20_000 }).toBe(true);
    expect(await heldOf('2019')).toBe(3);
    expect(complained).toEqual([]);
  });

  it('is small and quick: the first page with all its parts is below 50 KB', async () => {
    const bodies: Promise<Buffer>[] = [];
    page.on('response', (answer) => {
      if (answer.ok() && !/\/live\?since=\d+$/.test(answer.url())) bodies.push(answer.body());
    });
    await open('');
    await page.waitForLoadState('load');
    const sizes = (await Promise.all(bodies)).map(({ length }) => length);
    // The page, its style sheet, its script and its icon.
    expect(sizes.length).toBeGreaterThanOrEqual(3);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(50_000);
    const took = await page.evaluate<number>(
      'performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd',
    );
    // It takes 0.3 s on an idle machine. This one may be busy.
    expect(took).toBeLessThan(5_000);
  });
});
