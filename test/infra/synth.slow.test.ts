import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../infra/config.ts';
import { cachedAssembly } from '../../local/assembly-cache.ts';
import { isSystemError } from '../../local/errors.ts';
import { functionEnvironment } from '../scaffold/settings.ts';
import { compileCache } from '../support/compile-cache.ts';
import { times } from './config/settings.ts';
import { clean, configFile, everything, folder, synthesis, twoDistricts } from './synthesis.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const app = join(root, 'infra/app.ts');

function node(args: string[], variables: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env;
  return spawnSync(process.execPath, args, {
    // The host's own settings are left out, as on a machine that has never used AWS.
    env: { PATH, HOME, NODE_COMPILE_CACHE: compileCache, ...variables },
    cwd: root,
    encoding: 'utf8',
  });
}

const assetsIn = (directory: string) =>
  readdirSync(directory).filter((name) => name.startsWith('asset.'));

describe('synthesizing the app', () => {
  const outdir = join(folder, 'cli');
  const readJson = (name: string) => JSON.parse(readFileSync(join(outdir, name), 'utf8'));
  const synth = node([app, configFile('good.config.mjs', twoDistricts)], {
    CDK_OUTDIR: outdir,
    CDK_VALIDATION: 'false',
  });
  const bundles = assetsIn(outdir).map((asset) => join(outdir, asset, 'index.mjs'));
  const functions = ['poll', 'operate'];

  it('prints only its bundles: one of each function for all integrations', () => {
    expect(synth.stderr.replaceAll(/^Bundling asset .*\n/gm, '')).toBe('');
    expect({ status: synth.status, stdout: synth.stdout }).toEqual({ status: 0, stdout: '' });
    expect(bundles).toHaveLength(2);
    for (const asset of assetsIn(outdir))
      expect(readdirSync(join(outdir, asset))).toEqual(['index.mjs']);
  });

  it('makes an assembly that needs only its own files', () => {
    const { artifacts, missing } = readJson('manifest.json');
    expect(missing ?? []).toEqual([]);
    const types = Object.values(artifacts).map((artifact) => Object(artifact).type);
    expect(types.toSorted()).toEqual([
      'aws:cloudformation:stack',
      'cdk:asset-manifest',
      'cdk:feature-flag-report',
      'cdk:tree',
    ]);
    const { files, dockerImages } = readJson('certification-notifier.assets.json');
    expect(dockerImages).toEqual({});
    // The template and two functions. No program makes anything during the deployment.
    const sources = Object.values(files).map((file) => Object(file).source);
    expect(sources).toHaveLength(3);
    for (const { path, executable } of sources) {
      expect(executable).toBeUndefined();
      expect(existsSync(join(outdir, path))).toBe(true);
    }
    const { Resources, Parameters } = readJson('certification-notifier.template.json');
    expect(JSON.stringify(Resources)).not.toMatch(/"Custom::|CustomResource|resolve:/);
    expect(Object.keys(Parameters)).toEqual(['BootstrapVersion']);
  });

  it('makes the same bundle again at any place', async () => {
    const elsewhere = await cachedAssembly(parseConfig(twoDistricts));
    expect(assetsIn(elsewhere)).toEqual(assetsIn(outdir));
  });

  it('has source maps aside, which translate a stack trace of a bundle', () => {
    const { stdout: input } = node([
      '--input-type=module',
      '-e',
      // For an uncaught error, Node also shows the line, which exceeds a pipe's buffer here.
      bundles
        .map((bundle) => `await import('${bundle}').catch(({ stack }) => console.log(stack));`)
        .join('\n'),
    ]);
    expect(input.match(/^\w*Error/gm)).toHaveLength(2);
    for (const name of functions) {
      const { sources } = readJson(`source-maps/${name}.mjs.map`);
      expect(sources).toContain(`lambda/${name}.ts`);
      const trace = [join(root, 'scripts/trace.ts'), name, '--assembly', outdir];
      const { stdout } = spawnSync(process.execPath, trace, { input, encoding: 'utf8' });
      expect(stdout).toContain(`at lambda/${name}.ts:`);
    }
  });

  it('makes bundles of at most 730,000 bytes (860,000 with the commands) that keep names, and that Lambda can load', () => {
    for (const bundle of bundles) {
      const code = readFileSync(bundle, 'utf8');
      expect(/"CredentialsNotSetError"/.test(code)).toBe(true);
      const isOfCommands = code.includes('kms:GetKeyPolicy');
      expect(statSync(bundle).size).toBeLessThanOrEqual(isOfCommands ? 860_000 : 730_000);
      const load = `const { handler } = await import('${bundle}'); console.log(typeof handler);`;
      const variables = { AWS_REGION: 'us-east-1', ...functionEnvironment() };
      const loaded = node(['--input-type=module', '-e', load], variables);
      expect(loaded.stderr.slice(-300)).toBe('');
      expect(loaded.stdout.trim()).toBe('function');
    }
  });
});

describe('cdk-nag, the built-in validator and cfn-lint find nothing in', () => {
  const stacks = {
    'two-districts': twoDistricts,
    everything,
    'everything-fifo': { ...everything, topic: 'fifo' },
  };

  it.each(Object.entries(stacks))('a stack of %s', async (name, config) => {
    const file = configFile(`${name}.config.mjs`, config);
    expect(await synthesis(file, { into: name, judged: true })).toEqual(clean);
    const template = join(folder, name, 'certification-notifier.template.json');
    const { error, status, stdout } = spawnSync('cfn-lint', [template], { encoding: 'utf8' });
    if (isSystemError(error, 'ENOENT'))
      return console.warn('cfn-lint is not installed: not linted');
    expect({ error, status, stdout }).toEqual({ error: undefined, status: 0, stdout: '' });
  });
});

describe('a wrong configuration', () => {
  it('ends `cdk synth` with its lines', () => {
    const [district] = twoDistricts.integrations;
    const file = configFile('bad.config.mjs', {
      integrations: [{ ...district, evry: 5 }],
      logRetentionDays: 31,
    });
    // The paths have no spaces, for any place of the checkout.
    const command = [relative(root, process.execPath), relative(root, app), file].join(' ');
    const cdk = [join(root, 'node_modules/aws-cdk/bin/cdk'), 'synth', '--quiet', '--app', command];
    const { status, stdout, stderr } = node([...cdk, '--output', join(folder, 'bad')]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr.trim().split('\n')).toEqual([
      `${file} has 2 problems:`,
      expect.stringContaining('  integrations[0].evry: unknown setting; allowed: an object with'),
      expect.stringContaining('  logRetentionDays: 31 found; allowed: one of 1, 3, 5, 7, '),
      'Correct the named settings and run this again.',
      `${command}: Subprocess exited with error 1`,
    ]);
  });

  it('whose template CloudFormation would refuse ends the synthesis, which the CDK alone does not', async () => {
    const assessments = times(150, (index) => `${index} `.padEnd(100, 'name '));
    const hook = { topic: 'events', protocol: 'https', filter: { assessments } };
    const endpoint = (index: number) => `https://hook-${index}.example.org/x`;
    const subscriptions = times(60, (index) => ({ ...hook, endpoint: endpoint(index) }));
    const file = configFile('large.config.mjs', { ...twoDistricts, subscriptions });
    const { status, stderr } = await synthesis(file, { into: 'large' });
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /\n {2}subscriptions: a template of 1,\d+,\d+ bytes found; allowed: .*\n/,
    );
  });

  // In a process of its own: the tests' runner has other messages for a module that is none.
  it.each([
    ['a-syntax-error', 'export default {\n a: "1" b: 2 };', ':2 cannot be loaded: '],
    ['an-unknown-name', '\n\nexport default { a: q7Zt0pXw93LmVb2KcYd8Hs5RfNg1Ju6T };', ':3 cannot'],
    ['an-import-of-nothing', 'import "./none.ts"; export default {};', ' cannot be loaded: Cannot'],
  ])('that cannot be loaded is reported with file and line: %s', (name, content, expected) => {
    const file = join(folder, `${name}.config.ts`);
    writeFileSync(file, content);
    const { status, stdout, stderr } = node([app, file]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(`${file}${expected}`);
    expect(stderr).not.toContain('q7Zt0p');
    expect(stderr.trim().split('\n')).toHaveLength(2);
  });
});
