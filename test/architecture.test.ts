import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

const loadsIt = ({ typeOnly }: Import) => !typeOnly;

/** Each import of one of our files by another. */
function importsOf(folder: string): Import[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .flatMap((from) => {
      const source = readFileSync(join(root, from), 'utf8');
      return [...source.matchAll(/^(import|export)( type)? [^;]*?from '(\.[^']+)';/gms)].map(
        ([, , type, path = '']) => ({
          from,
          to: normalize(join(dirname(from), path)),
          typeOnly: type !== undefined,
        }),
      );
    });
}

function crossing(folder: string, allowed: RegExp, { types = true } = {}): string[] {
  return importsOf(folder)
    .filter(({ to }) => !to.startsWith(`${folder}/`))
    .filter(({ to, typeOnly }) => !(types && typeOnly) && !allowed.test(to))
    .map(({ from, to }) => `${from} → ${to}`);
}

/** Files that import themselves through others. */
function circles(imports: readonly Import[]): string[] {
  const loads = Map.groupBy(imports, ({ from }) => from);
  const settled = new Set<string>();
  const found: string[] = [];
  const follow = (file: string, path: readonly string[]) => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (path.includes(file) || settled.has(file)) return;
    for (const { to } of loads.get(file) ?? []) follow(to, [...path, file]);
    settled.add(file);
  };
  for (const file of loads.keys()) follow(file, []);
  return found;
}

describe('arrows point one way', () => {
  it('no file imports itself through others', () => {
    const folders = ['lambda', 'infra', 'consumer', 'ops', 'console', 'local'];
    expect(circles(folders.flatMap(importsOf).filter(loadsIt))).toEqual([]);
  });

  it.each(['lambda/operations', 'infra'])('no file of %s, not even for a type', (folder) => {
    expect(circles(importsOf(folder))).toEqual([]);
  });

  it('detection imports only types of ours', () => {
    expect(crossing('lambda/detection', /^$/)).toEqual([]);
  });

  it('events imports nothing of ours', () => {
    expect(crossing('lambda/events', /^$/)).toEqual([]);
  });

  const files = 'errors|condition-table|access-denied|write-each|clock|names|json-text|english';
  const base = `lambda/(${files})\\.ts|lambda/(detection|events)/.*`;
  it('ledger knows ports, detection, events and the base only', () => {
    expect(crossing('lambda/ledger', new RegExp(`^(${base}|lambda/ports/.*)$`))).toEqual([]);
  });

  it('partner knows detection, events and the base only', () => {
    expect(crossing('lambda/partner', new RegExp(`^(${base})$`))).toEqual([]);
  });

  it('delivery knows these only', () => {
    expect(crossing('lambda/delivery', new RegExp(`^(${base})$`))).toEqual([]);
  });

  it("the subscribers' imports know the contract and the base only", () => {
    expect(crossing('consumer', /^lambda\/(errors|clock|english)\.ts$|^lambda\/events\//)).toEqual(
      [],
    );
  });

  it('commands go through the ports of the tick', () => {
    const behindPorts = /^lambda\/(partner|ledger|delivery)\//;
    const steps = /^lambda\/tick\/(?!time-limit|tick|parts)/;
    expect(
      importsOf('lambda/operations').filter(({ to }) => behindPorts.test(to) || steps.test(to)),
    ).toEqual([]);
  });

  it('the tasks of a fan-out go through the ports of the tick', () => {
    const behindPorts = /^lambda\/(partner|ledger|delivery|operations)\//;
    expect(importsOf('lambda/fan-out').filter(({ to }) => behindPorts.test(to))).toEqual([]);
  });

  it('the stack and the runtime share names and the condition table', () => {
    expect(
      crossing('infra', /^(lambda\/(names|errors|condition-table)\.ts|cdk\.json)$/, {
        types: false,
      }),
    ).toEqual([]);
    expect(crossing('lambda', /^package\.json$/, { types: false })).toEqual([]);
  });

  it("the command line of ops knows the contract, names, the stack's outputs and the partner's client only", () => {
    const known =
      /^infra\/output-names\.ts$|^lambda\/(names|errors|condition-table|clock|describe-error|english)\.ts$|^lambda\/operations\/(contract|shapes|lives|commands\/[\w-]+)\.ts$|^lambda\/events\/event\.ts$|^lambda\/partner\/client\.ts$|^local\/instance\.ts$/;
    expect(crossing('ops', known)).toEqual([]);
    const pure = /^(?!ops\/render\/)ops\//;
    expect(
      importsOf('ops/render').filter(({ to, typeOnly }) => !typeOnly && pure.test(to)),
    ).toEqual([]);
  });

  it('the console knows the command line and its imports', () => {
    const known =
      /^ops\/|^lambda\/(errors|condition-table|clock)\.ts$|^lambda\/operations\/(contract|shapes|lives|commands\/[\w-]+)\.ts$|^lambda\/events\/event\.ts$/;
    expect(crossing('console', known)).toEqual([]);
    expect(importsOf('ops').filter(({ to }) => to.startsWith('console/'))).toEqual([]);
  });

  it('each package that installers should not need is named in one module, which the build bundles', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const build = readFileSync(join(root, 'scripts/bundle-libraries.ts'), 'utf8');
    const bundled = /const libraries = \[(.*?)\]/s.exec(build)?.[1] ?? '';
    const named = ['ops', 'console', 'consumer'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(folder, name))
        .filter((file) =>
          [
            ...readFileSync(join(root, file), 'utf8').matchAll(
              /from '((?:@[^/']+\/)?[^./'][^/']*)/g,
            ),
          ].some(([, name = '']) => Object.hasOwn(devDependencies, name)),
        ),
    );
    expect(named).toEqual(['ops/mcp/library.ts', 'console/library.ts']);
    for (const file of named) expect(bundled).toContain(`'${file.replace('.ts', '')}'`);
  });

  it('bundled files use zod/mini: the whole of zod adds 60 KB', () => {
    const whole = ['lambda', 'consumer'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(folder, name))
        .filter((name) => /from 'zod';/.test(readFileSync(join(root, name), 'utf8'))),
    );
    expect(whole).toEqual([]);
  });

  it('deployed files know nothing that runs locally', () => {
    for (const folder of ['lambda', 'infra'])
      expect(
        importsOf(folder).filter(({ to }) =>
          /^(local|test|bench|ops|console|scripts|consumer)\//.test(to),
        ),
      ).toEqual([]);
  });
});
