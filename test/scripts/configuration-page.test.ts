import { describe, expect, expectTypeOf, it } from 'vitest';
import type * as z from 'zod';
import type { deployment } from '../../infra/config/deployment.ts';
import type { NotifierConfigInput } from '../../infra/config/input.ts';
import { parseConfig } from '../../infra/config.ts';
import { configurationPage, documentedSettings } from '../../scripts/configuration-page.ts';
import { configurationTypes } from '../../scripts/configuration-types.ts';

const [page = ''] = configurationPage().values();
const settings = documentedSettings();

describe('docs/configuration.md', () => {
  it('has the allowed values of each setting, at any depth', () => {
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
    const code = example.replace(/^import .*$/m, 'const defineConfig = (config) => config;');
    const module = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    expect(parseConfig(module.default).subscriptions).toHaveLength(3);
  });
});

type Unchanging<T> = T extends readonly (infer Element)[]
  ? readonly Unchanging<Element>[]
  : T extends object
    ? { readonly [Key in keyof T]: Unchanging<T[Key]> }
    : T;
type Accepted = z.input<typeof deployment>;

describe('the types of the configuration', () => {
  it("accept the schema's values and no others, by the compiler", () => {
    expectTypeOf<Accepted>().toExtend<NotifierConfigInput>();
    expectTypeOf<NotifierConfigInput>().toExtend<Unchanging<Accepted>>();
  });

  it('have the allowed values and the default of each setting for editors, in each member of a union', () => {
    const [types = ''] = configurationTypes().values();
    const names = settings.map(({ path }) => path.split('.').at(-1));
    expect(new Set(types.match(/(?<=\*\/\nreadonly )\w+/g))).toEqual(new Set(names));
    expect(types).not.toMatch(/[^/]\nreadonly/);
    expect(types.match(/@default \S/g)).toHaveLength(types.match(/readonly \w+\?:/g)?.length ?? 0);
  });
});
