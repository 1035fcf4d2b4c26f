import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BrowserContext,
  type BrowserContextOptions,
  type Browser as Chromium,
  chromium,
} from 'playwright-core';

const { ProgramFiles = '', LOCALAPPDATA = '' } = process.env;
const { 'ProgramFiles(x86)': programFiles86 = '' } = process.env;
const onWindows = ['Google/Chrome/Application/chrome.exe', 'Microsoft/Edge/Application/msedge.exe'];

/** Possible places of a Chromium, Debian's first. */
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
// CI installs a browser beside the first tests, and holds this lock meanwhile.
const { BROWSER_LOCK } = process.env;
if (BROWSER_LOCK) execFileSync('flock', ['-w', '300', BROWSER_LOCK, 'true']);

/** Absent: this machine has none. */
export const executablePath = places[process.platform]?.find((place) => existsSync(place));

type Reader = Pick<BrowserContextOptions, 'colorScheme'> & { readonly width?: number };

/** A real Chromium, without a window. */
export class Browser implements AsyncDisposable {
  readonly #chromium: Chromium;

  private constructor(chromium: Chromium) {
    this.#chromium = chromium;
  }

  static async open(): Promise<Browser> {
    const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
    const place = executablePath === undefined ? {} : { executablePath };
    const chromiumSandbox = process.getuid?.() !== 0;
    return new Browser(await chromium.launch({ chromiumSandbox, ...signals, ...place }));
  }

  /** A new reader, without cookies or a cache. */
  async reader({ width = 1440, ...options }: Reader = {}): Promise<BrowserContext> {
    const viewport = { width, height: 900 };
    const context = await this.#chromium.newContext({ viewport, ...options });
    // This exceeds all normal times, and is below the limit of a test, which would not name its
    // cause.
    context.setDefaultTimeout(30_000);
    return context;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#chromium.close();
  }
}
