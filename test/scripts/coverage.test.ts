import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TraceMap } from '@jridgewell/trace-mapping';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { unbundled } from '../../scripts/coverage/bundles.ts';
import { fallsBetween, reportOf, table } from '../../scripts/coverage/report.ts';
import type { Script } from '../../scripts/coverage/script.ts';
import { Source } from '../../scripts/coverage/source.ts';

const folder = mkdtempSync(join(tmpdir(), 'coverage-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const text = `interface Order { readonly size: number }
export function price(order: Order, rebate = 0): number {
  if (order.size > 10) {
    return order.size * 2;
  }
  const full = order.size * 3;
  return rebate > 0 ? full - rebate : full;
}
export function never(): void {
  console.log('not run');
}
`;
const path = join(folder, 'price.ts');
writeFileSync(path, text);
const uses = `import { price } from './price.ts'; console.log(price({ size: Number(process.argv[2] ?? 1) }));`;
writeFileSync(join(folder, 'uses.mjs'), uses);

/** Runs a file in processes and worker threads with different ends. @returns V8's counts of it */
function counted(program: string, file: string): Script {
  const processes = mkdtempSync(join(folder, 'processes-'));
  const preload = new URL('../../scripts/preload/coverage.mjs', import.meta.url);
  preload.search = `${new URLSearchParams({ folder: processes })}`;
  const { stderr } = spawnSync(
    process.execPath,
    [`--import=${preload}`, '--input-type=module', '-e', program],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  const scripts = readdirSync(processes)
    .map((name) => JSON.parse(readFileSync(join(processes, name), 'utf8')))
    .flatMap(({ result }: { result: Script[] }) => result)
    .filter(({ url }) => url === pathToFileURL(file).href);
  expect(scripts).toHaveLength(1);
  return scripts[0] ?? { url: '', scriptId: '', functions: [] };
}

const inChild = (program: string) => `
  import { spawnSync } from 'node:child_process';
  spawnSync(process.execPath, [${JSON.stringify(program)}], { env: {} });`;
const inThread = (program: string) => `
  import { once } from 'node:events';
  import { Worker } from 'node:worker_threads';
  const url = new URL(${JSON.stringify(pathToFileURL(program).href)});
  const worker = new Worker(url, { env: {}, execArgv: [], stdout: true });
  await once(worker.stdout, 'data');
  await worker.terminate();`;

async function bundled() {
  const outfile = join(folder, 'bundle.mjs');
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'uses.mjs')],
    outfile,
    bundle: true,
    minify: true,
    format: 'esm',
    sourcemap: 'external',
    write: false,
  });
  const [map, code] = outputFiles.map((file) => file.text);
  writeFileSync(outfile, code ?? '');
  return { outfile, code: code ?? '', map: new TraceMap(map ?? '') };
}

describe('the count of a source', () => {
  const run = [3, 6, 7];
  const all = [3, 4, 6, 7, 10];
  const covered = ({ lines }: Source) =>
    [...lines].filter(([, isRun]) => isRun).map(([line]) => line);

  it('is zero at first, for each line with a statement', async () => {
    const source = await Source.of(path, text);
    expect([...source.lines.keys()]).toEqual(all);
    expect(covered(source)).toEqual([]);
    // The default, both branches of `if`, and both arms.
    expect(source.branches).toEqual({ covered: 0, total: 5 });
  });

  it.each([
    ['a child process with an environment of its own', inChild],
    ['a worker thread with an environment of its own that is terminated', inThread],
  ])('has the lines that %s has run', async (_, started) => {
    const source = await Source.of(path, text);
    const script = counted(started(join(folder, 'uses.mjs')), path);
    expect(await source.addCounts(script.functions)).toBe(0);
    expect(covered(source)).toEqual(run);
    expect(source.branches).toEqual({ covered: 3, total: 5 });
  });

  it('has the lines that a minified bundle has run', async () => {
    const source = await Source.of(path, text);
    const { outfile, ...bundle } = await bundled();
    const script = counted(inChild(outfile), outfile);
    const found = unbundled(bundle, script, (name) =>
      name === 'price.ts' ? source.code : undefined,
    );
    expect(await source.addCounts(found.get('price.ts') ?? [])).toBe(0);
    expect(covered(source)).toEqual(run);
    expect(source.branches).toEqual({ covered: 3, total: 5 });
  });
});

describe('the report by room', () => {
  const counts = (lines: number, branches: number) => ({
    lines: { covered: lines, total: 1000 },
    branches: { covered: branches, total: 10_000 },
    missed: [],
  });
  const before = reportOf({ 'lambda/ledger/a.ts': counts(900, 5000), 'ops/b.ts': counts(1000, 0) });

  it('adds up a folder, and lambda/ by its folders, too', () => {
    const { rooms } = reportOf({
      'lambda/poll.ts': counts(1, 2),
      'lambda/ledger/a.ts': counts(3, 4),
      'ops/render/b.ts': counts(5, 6),
    });
    expect(Object.keys(rooms)).toEqual(['lambda', 'lambda/ledger', 'ops']);
    expect(rooms['lambda']?.lines).toEqual({ covered: 4, total: 2000 });
    expect(table({ rooms, files: {} })).toMatch(/^ops +5\/1000 +0\.5 % +6\/10000 +0\.1 %$/m);
  });

  it('names rooms that have fallen by more than rounding', () => {
    const after = reportOf({
      'lambda/ledger/a.ts': counts(899, 4995),
      'ops/b.ts': counts(1000, 0),
    });
    expect(fallsBetween(before, after)).toEqual([
      'lambda: lines 90.0 % → 89.9 %',
      'lambda/ledger: lines 90.0 % → 89.9 %',
    ]);
  });

  it('does not call a new or removed room fallen', () => {
    expect(fallsBetween(before, reportOf({ 'local/c.ts': counts(0, 0) }))).toEqual([]);
  });
});
