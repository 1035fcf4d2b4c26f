import { join, matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import { configDefaults } from 'vitest/config';
import config from '../../vitest.config.ts';

const root = join(import.meta.dirname, '../..');

/** Vitest follows imports only. */
it.each([
  ...[
    'package.json',
    'README.md',
    'docs/configuration.md',
    'docs/events/examples/certification.test.json',
  ],
  ...['examples/python-worker/worker.py', 'test/infra/approved/smallest.yaml'],
  ...['test/console/approved/now.txt', 'test/lambda/delivery/notices/held.approved.txt'],
])('npm run test:changed runs all tests if %s, which they only read, has changed', async (file) => {
  const { test } = await config({ mode: 'test', command: 'serve' });
  const { forceRerunTriggers = configDefaults.forceRerunTriggers } = test ?? {};
  expect(forceRerunTriggers.some((one) => matchesGlob(join(root, file), one))).toBe(true);
});
