import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serveConsole } from '../../console/index.ts';
import { systemClock } from '../../lambda/clock.ts';
import { run } from '../../local/run.ts';
import { Seen } from '../../local/seen.ts';
import { Integration } from '../scaffold/integration.ts';
import { RunningProgram } from '../support/running.ts';
import { barriers, complaints, describeInBrowser } from './browser.ts';
import { Browser } from './chromium.ts';
import { IntegrationDoor } from './integration-door.ts';

describeInBrowser('the console of npm start in a browser', () => {
  let directory: string;
  let browser: Browser;
  let started: RunningProgram;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'local-pages-'));
    browser = await Browser.open();
    const environment = { NOTIFIER_LOCAL: directory };
    started = new RunningProgram(run, ['--port', '0', '--every', '1'], { environment });
  });
  afterAll(async () => {
    started.interrupt();
    await started.ended;
    await browser[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });

  it('shows the work of the start live, and continues by itself when all parts are ready', async () => {
    const seen = new Seen({ clock: systemClock, isReal: false });
    const story = new Integration();
    await story.baseline();
    const door = Object.assign(new IntegrationDoor(story), { local: seen });
    seen.begin('loading');
    await using served = await serveConsole(door, 0);
    seen.tell(served.changed);
    await using reader = await browser.reader();
    const page = await reader.newPage();
    const listens = page.waitForResponse((answer) => /\/live\?since=\d+$/.test(answer.url()));
    await Promise.all([listens, page.goto(served.url)]);
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

  it('shows provoked changes and their results live', async () => {
    await started.shows(/http:\S+/);
    const [url = ''] = /http:\S+/.exec(started.output.text) ?? [];
    await using reader = await browser.reader();
    const page = await reader.newPage();
    await started.shows(/created .* district-a/);

    const complained = complaints(page);
    await page.goto(new URL('provoke', url).href);
    await page.click('text=Kill the tick right now');
    await page.waitForSelector('#done >> text=Kill the tick right now');
    await page.evaluate('window.isSame = true');
    await started.shows(/provoked · failed/);
    await page.waitForSelector('#done >> text=1 tick failed because of them.');
    expect(await page.evaluate('window.isSame')).toBe(true);
    for (const width of [1440, 360]) {
      await page.setViewportSize({ width, height: 900 });
      for (const path of ['provoke', 'mail', 'local/events']) {
        await page.goto(new URL(path, url).href);
        expect({ path, barriers: await barriers(page) }).toEqual({ path, barriers: [] });
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      }
    }
    await page.click('main table a');
    expect(await page.textContent('pre')).toContain('"specversion": "1.0"');
    expect(complained).toEqual([]);
  });
});
