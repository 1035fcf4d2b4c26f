import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../infra/load-config.ts';
import { configurationPage, documentedSettings } from '../../scripts/configuration-page.ts';

const folder = mkdtempSync(join(tmpdir(), 'configuration-'));
afterAll(() => rmSync(folder, { recursive: true }));

const root = fileURLToPath(new URL('../..', import.meta.url));
const [[path, generated] = ['', '']] = configurationPage();
const page = readFileSync(join(root, path), 'utf8');

describe('docs/configuration.md', () => {
  it('has the settings of their schema: else, run `npm run generate`', () => {
    expect(page).toBe(generated);
  });

  it('has the allowed values of each setting, at any depth', () => {
    const settings = documentedSettings();
    expect(settings.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'integrations[].audit.recentMinutes',
        'integrations[].announce.since',
        'subscriptions[].endpoint.newQueue',
        'subscriptions[].filter.late',
        'alerts.quietHours.from',
        'topic',
        'tags',
      ]),
    );
    const parents = new Set(settings.map(({ path }) => path.replace(/(\[\])?\.\w+$/, '')));
    for (const { path, description, allowed } of settings) {
      if (!parents.has(path)) expect(allowed, path).toBeDefined();
      expect(description ?? allowed, path).toBeDefined();
    }
  });

  it('begins with a valid example', async () => {
    const [, example = ''] = page.match(/```ts\n(.*?)```/s) ?? [];
    const file = join(folder, 'notifier.config.mjs');
    writeFileSync(
      file,
      example.replace(/^import .*$/m, 'const defineConfig = (config) => config;'),
    );
    const { subscriptions } = await loadConfig(file);
    expect(subscriptions).toHaveLength(3);
  });
});
