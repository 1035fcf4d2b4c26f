import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { thirdPartyNotices } from '../../scripts/notices/third-party-notices.ts';

const root = mkdtempSync(join(tmpdir(), 'notices-'));
afterAll(() => rmSync(root, { recursive: true }));

/** @returns a file of the package */
function installed(name: string, license: string, files: Record<string, string> = {}): string {
  const folder = join(root, 'node_modules', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '1.2.3', license }));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return join(folder, 'lib/index.js');
}

it('the third-party notices have each text once, below its packages, or the licence without one', () => {
  const text = 'Permission is granted to the last of us.';
  const notices = thirdPartyNotices([
    installed('zebra', 'MIT', { LICENSE: text }),
    installed('@scope/ant', 'MIT', { 'LICENSE.md': `${text}\n`, 'NOTICE.txt': 'Thank Ann.' }),
    installed('free', 'MIT-0', { 'README.md': 'Hello.' }),
    'lambda/poll.ts',
  ]);
  expect(notices).toContain(`@scope/ant 1.2.3\nzebra 1.2.3\n\n${text}\n`);
  expect(notices).toContain('@scope/ant 1.2.3\n\nThank Ann.\n');
  expect(notices).toContain('free 1.2.3\n\nLicence: MIT-0\n');
  expect(notices).not.toContain('lambda');
});

it('the third-party notices are not made while a bundled package has no licence text', () => {
  expect(() => thirdPartyNotices([installed('bare', 'MIT')])).toThrow(/^bare is bundled/);
});
