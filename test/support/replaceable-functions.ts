import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/**
 * To be loaded before all else (`node --import`), also by worker threads: a test can then replace
 * functions of these modules for some work (`replacements.ts`), wherever sources import them. A function that
 * calls another one of its own module calls the real one. A thread's work is not that of the thread that began
 * it: the workers of the exploration and the simulation break their own. Deployments run bundles, without this.
 */
const modules: ReadonlyMap<string, string> = new Map(
  'baseline compare day-entries days-read gate locate missing names-tied seam twins'
    .split(' ')
    .map((name) => `decisions/${name}.ts`)
    .map((path) => [new URL(`../../lambda/${path}`, import.meta.url).href, path]),
);
const real = '?real';
const functions = /^export (?:async )?function\*? (\w+)/gm;

registerHooks({
  load(url, context, nextLoad) {
    const path = modules.get(url);
    if (path === undefined) return nextLoad(url, context);
    const code = readFileSync(new URL(url), 'utf8');
    const names = [...code.matchAll(functions)].map(([, name]) => name);
    const whole = JSON.stringify(`${url}${real}`);
    const replacements = JSON.stringify(new URL('replacements.ts', import.meta.url).href);
    const source = [
      `import * as real from ${whole};`,
      `import { replaceable } from ${replacements};`,
      // An export of its own hides the one of the same name here.
      `export * from ${whole};`,
      ...names.map((one) => `export const ${one} = replaceable('${path} ${one}', real.${one});`),
    ];
    return { format: 'module', source: source.join('\n'), shortCircuit: true };
  },
});
