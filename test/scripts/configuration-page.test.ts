import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../infra/load-config.ts';
import { configurationPage, documentedSettings } from '../../scripts/configuration-page.ts';

const folder = mkdtempSync(join(tmpdir(), 'configuration-'));
afterAll(() => rmSync(folder, { recursive: true }));

const [page = ''] = configurationPage().values();

describe('docs/configuration.md', () => {
  it('has the allowed values of each setting, at any depth', () => {
    const settings = documentedSettings();
    const paths = settings.map(({ path }) => path);
    expect(paths).toContain('subscriptions[].endpoint.newQueue');
    expect(paths).toContain('alerts.quietHours.from');
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
