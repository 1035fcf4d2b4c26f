import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/**
 * To be loaded before all else (`node --import`), also by each worker thread: a test can then replace
 * functions of these modules for some work (`replacements.ts`), wherever production code imports them. A
 * function that calls another one of its own module calls the real one.
 */
const modules: ReadonlyMap<string, string> = new Map(
  [
    'detection/baseline.ts',
    'detection/compare.ts',
    'detection/day-entries.ts',
    'detection/days-read.ts',
    'detection/gate.ts',
    'detection/locate.ts',
    'detection/missing.ts',
    'detection/names-tied.ts',
    'detection/seam.ts',
  ].map((path) => [new URL(`../../lambda/${path}`, import.meta.url).href, path]),
);
const real = '?real';
const functions = /^export (?:async )?function\*? (\w+)/gm;

registerHooks({
  load(url, context, nextLoad) {
    const path = modules.get(url);
    if (path === undefined) return nextLoad(url, context);
    const names = [...readFileSync(new URL(url), 'utf8').matchAll(functions)].map(
      ([, name]) => name,
    );
    const whole = JSON.stringify(`${url}${real}`);
    const source = [
      `import * as real from ${whole};`,
      `import { replaceable } from ${JSON.stringify(new URL('replacements.ts', import.meta.url).href)};`,
      // An export of its own hides the one of the same name here.
      `export * from ${whole};`,
      ...names.map(
        (name) => `export const ${name} = replaceable('${path} ${name}', real.${name});`,
      ),
    ];
    return { format: 'module', source: source.join('\n'), shortCircuit: true };
  },
});
