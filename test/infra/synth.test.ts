import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../infra/config.ts';
import { readAssembly } from '../../local/aws/assembly.ts';
import { synthesize } from '../../local/synthesize.ts';
import { functionEnvironment } from '../scaffold/settings.ts';
import { compileCache } from '../support/compile-cache.ts';

const folder = mkdtempSync(join(tmpdir(), 'synth-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const root = fileURLToPath(new URL('../..', import.meta.url));
const app = join(root, 'infra/app.ts');
const district = { baseUrl: 'https://platform.example.org', timeZone: 'UTC' };
const twoDistricts = {
  integrations: [
    { ...district, name: 'district-a' },
    { ...district, name: 'district-b', baseline: 'fan-out' },
  ],
};

function node(args: string[], variables: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env;
  return spawnSync(process.execPath, args, {
    // Nothing of the host's own settings: as on a machine that has never seen AWS.
    env: { PATH, HOME, NODE_COMPILE_CACHE: compileCache, ...variables },
    cwd: root,
    encoding: 'utf8',
  });
}

/** The CDK's validator takes seconds: it is off where the subject is our own refusals and names. */
const unjudged = { CDK_VALIDATION: 'false' };

const configFile = (name: string, config: unknown) => {
  const file = join(folder, name);
  writeFileSync(file, `export default ${JSON.stringify(config)};`);
  return file;
};

const readJson = (name: string) => JSON.parse(readFileSync(join(outdir, name), 'utf8'));

const assetsIn = (directory: string) =>
  readdirSync(directory).filter((name) => name.startsWith('asset.'));

const outdir = join(folder, 'cli');
const synth = node([app, configFile('good.config.mjs', twoDistricts)], { CDK_OUTDIR: outdir });

it('a partner that only this machine can reach is refused: AWS could not', () => {
  const local = { name: 'district-a', timeZone: 'UTC', baseUrl: 'http://localhost:3000' };
  const file = configFile('local.config.mjs', { integrations: [local] });
  const { status, stderr } = node([app, file]);
  expect(stderr).toContain(
    'integrations[0].baseUrl: "http://localhost:3000" found; allowed: a host that AWS can reach',
  );
  expect(status).toBe(1);
});

describe('synthesizing the app', () => {
  it('finds nothing that cdk-nag or the built-in validator would object to', () => {
    expect(synth.stdout + synth.stderr).not.toMatch(/AwsSolutions-|ERROR/);
    expect(synth.status).toBe(0);
  });

  it('bundles each of the three functions once for all integrations', () => {
    const assets = assetsIn(outdir);
    expect(assets).toHaveLength(3);
    for (const asset of assets) expect(readdirSync(join(outdir, asset))).toEqual(['index.mjs']);
  });

  it('makes an assembly that needs nothing that is not in it', () => {
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
    // The template and three functions; nothing is made by a program while it is deployed.
    const sources = Object.values(files).map((file) => Object(file).source);
    expect(sources).toHaveLength(4);
    for (const { path, executable } of sources) {
      expect(executable).toBeUndefined();
      expect(existsSync(join(outdir, path))).toBe(true);
    }
    const { Resources, Parameters } = readJson('certification-notifier.template.json');
    expect(JSON.stringify(Resources)).not.toMatch(/"Custom::|CustomResource|resolve:/);
    expect(Object.keys(Parameters)).toEqual(['BootstrapVersion']);
  });

  it('writes the template without indentation, which would count like the rest of it', () => {
    const written = readFileSync(join(outdir, 'certification-notifier.template.json'), 'utf8');
    expect(written).toBe(JSON.stringify(JSON.parse(written)));
  });

  it('makes the same bundle again, wherever it is put', async () => {
    const again = join(folder, 'again');
    await synthesize(parseConfig(twoDistricts), again);
    expect(assetsIn(again)).toEqual(assetsIn(outdir));
  });

  it.each(['poll', 'operate', 'fan-out'])('keeps the source map of %s aside', (name) => {
    const map = JSON.parse(readFileSync(join(outdir, 'source-maps', `${name}.mjs.map`), 'utf8'));
    expect(map.sources.some((source: string) => source === `lambda/${name}.ts`)).toBe(true);
  });

  it('lets a stack trace be read that names places in a bundle', () => {
    const bundles = assetsIn(outdir).map((asset) => join(outdir, asset, 'index.mjs'));
    // Of an error that nobody catches Node shows the line as well: here it is longer than a pipe holds.
    const traces = bundles.map(
      (bundle) =>
        node([
          '--input-type=module',
          '-e',
          `import('${bundle}').catch(({ stack }) => console.log(stack))`,
        ]).stdout,
    );
    const read = ['poll', 'operate', 'fan-out'].flatMap((name) =>
      traces.map((input) => {
        const trace = [join(root, 'scripts/trace.ts'), name, '--assembly', outdir];
        return spawnSync(process.execPath, trace, { input, encoding: 'utf8' }).stdout;
      }),
    );
    for (const name of ['poll', 'operate', 'fan-out'])
      expect(read.some((trace) => trace.includes(`at lambda/${name}.ts:`))).toBe(true);
  });

  it.each([0, 1, 2])('makes bundle %i of at most 700,000 bytes', (index) => {
    const bundle = join(outdir, assetsIn(outdir)[index] ?? '', 'index.mjs');
    expect(statSync(bundle).size).toBeLessThanOrEqual(700_000);
  });

  it.each([0, 1, 2])('makes bundle %i such that Lambda can load it: with all it needs', (index) => {
    const bundle = join(outdir, assetsIn(outdir)[index] ?? '', 'index.mjs');
    const probe = join(folder, 'probe.mjs');
    writeFileSync(
      probe,
      `const { handler } = await import(${JSON.stringify(bundle)}); console.log(typeof handler);`,
    );
    const loaded = node([probe], {
      AWS_REGION: 'us-east-1',
      ...functionEnvironment(),
    });
    expect(loaded.stderr.slice(-300)).toBe('');
    expect(loaded.stdout.trim()).toBe('function');
  });
});

describe('a configuration with every kind of resource', () => {
  const keyArn = `arn:aws:kms:us-east-1:111122223333:key/mrk-${'0'.repeat(32)}`;
  const [one, other] = twoDistricts.integrations;
  const everything = {
    integrations: [
      one,
      { ...other, secretName: 'partner/district-b', secretKeyArn: keyArn, every: 15 },
    ],
    runbookUrl: 'https://wiki.example.org/notifier/operations',
    logRetentionDays: 7,
    subscriptions: [
      {
        topic: 'events',
        protocol: 'sqs',
        endpoint: { newQueue: 'payroll', readers: ['arn:aws:iam::111122223333:role/payroll'] },
        filter: { types: ['created'], organizations: [7] },
      },
      { topic: 'alerts', protocol: 'email', endpoint: 'office@district-a.example.org' },
      { topic: 'alerts', protocol: 'https', endpoint: 'https://hook.example.org/x', raw: true },
      {
        topic: 'operations',
        protocol: 'lambda',
        endpoint: 'arn:aws:lambda:us-east-1:111122223333:function:watch',
      },
    ],
    subscriberAccounts: ['444455556666'],
    pagerTopicArn: 'arn:aws:sns:us-east-1:111122223333:pager',
    permissionsBoundary: 'boundary',
    tags: { team: 'certification' },
  };
  const hasLinter = spawnSync('cfn-lint', ['--version']).status === 0;

  it.each(['standard', 'fifo'])('is clean, with a %s topic', (topic) => {
    const into = join(folder, `everything-${topic}`);
    const file = configFile(`everything-${topic}.config.mjs`, { ...everything, topic });
    const { status, stdout, stderr } = node([app, file], {
      CDK_OUTDIR: into,
      CDK_CONTEXT_JSON: JSON.stringify({ 'aws:cdk:bundling-stacks': [] }),
    });
    expect({ status, found: stdout + stderr }).toEqual({ status: 0, found: '' });
    // An extra check where Python's cfn-lint is installed: AWS's own schemas of every resource.
    if (!hasLinter) return;
    const template = join(into, 'certification-notifier.template.json');
    const lint = spawnSync('cfn-lint', [template], { encoding: 'utf8' });
    expect({ status: lint.status, found: lint.stdout }).toEqual({ status: 0, found: '' });
  });
});

describe('a wrong configuration', () => {
  it('ends the synthesis with plain lines, no stack trace and exit code 1', () => {
    const file = configFile('bad.config.mjs', {
      integrations: [{ ...district, name: 'A', every: 0 }],
    });
    const { status, stdout, stderr } = node([app, file]);
    expect(status).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(`${file} has 2 problems:\n`);
    expect(stderr).toContain('integrations[0].name: "A" found');
    expect(stderr).toContain('integrations[0].every: 0 found');
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it('ends `cdk synth` with the same lines', () => {
    const file = configFile('bad.config.mjs', {
      integrations: [{ ...district, name: 'district-a', evry: 5 }],
      logRetentionDays: 31,
    });
    // In words without spaces, wherever the checkout is.
    const command = [relative(root, process.execPath), relative(root, app), file].join(' ');
    const cdk = [join(root, 'node_modules/aws-cdk/bin/cdk'), 'synth', '--quiet', '--app', command];
    const { status, stdout, stderr } = node([...cdk, '--output', join(folder, 'bad')]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr.trim().split('\n')).toEqual([
      `${file} has 2 problems:`,
      expect.stringMatching(
        /^ {2}integrations\[0\]\.evry: unknown setting; allowed: an object with/,
      ),
      expect.stringMatching(/^ {2}logRetentionDays: 31 found; allowed: one of 1, 3, 5, 7, /),
      'Correct the named settings and run this again.',
      `${command}: Subprocess exited with error 1`,
    ]);
  });

  it('whose template CloudFormation would not take ends the synthesis, which the CDK alone does not', () => {
    const assessments = Array.from({ length: 150 }, (_, index) => `${index} `.padEnd(100, 'name '));
    const subscriptions = Array.from({ length: 60 }, (_, index) => ({
      topic: 'events',
      protocol: 'https',
      endpoint: `https://hook-${index}.example.org/x`,
      filter: { assessments },
    }));
    const file = configFile('large.config.mjs', { ...twoDistricts, subscriptions });
    const { status, stderr } = node([app, file], {
      ...unjudged,
      CDK_OUTDIR: join(folder, 'large'),
      CDK_CONTEXT_JSON: JSON.stringify({ 'aws:cdk:bundling-stacks': [] }),
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /\n {2}subscriptions: a template of 1,\d+,\d+ bytes found; allowed: .*\n/,
    );
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it.each([
    ['a syntax error', 'export default {\n a: "1" b: 2 };', ':2 cannot be loaded: '],
    ['an unknown name', '\n\nexport default { a: q7Zt0pXw93LmVb2KcYd8Hs5RfNg1Ju6T };', ':3 cannot'],
    ['an import of nothing', 'import "./none.ts"; export default {};', ' cannot be loaded: Cannot'],
  ])('that cannot be loaded for %s is told with file and line', (_, content, expected) => {
    const file = join(folder, 'broken.config.ts');
    writeFileSync(file, content);
    const { status, stdout, stderr } = node([app, file]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(`${file}${expected}`);
    expect(stderr).not.toContain('q7Zt0p');
    expect(stderr.trim().split('\n')).toHaveLength(2);
  });
});

describe('an environment', () => {
  const main = configFile('deployed.config.mjs', twoDistricts);
  const staging = (settings: object) =>
    writeFileSync(
      join(folder, 'deployed.staging.config.mjs'),
      `import main from './deployed.config.mjs';
       export default { ...main, ...${JSON.stringify(settings)} };`,
    );
  const synthesizedFor = (env: unknown, into: string) =>
    node([app, main], {
      ...unjudged,
      CDK_OUTDIR: join(folder, into),
      CDK_CONTEXT_JSON: JSON.stringify({ env, 'aws:cdk:bundling-stacks': [] }),
    });

  it('has a configuration and a stack of its own', () => {
    staging({ terminationProtection: false });
    const { status, stderr } = synthesizedFor('staging', 'staging');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { stackName } = readAssembly(join(folder, 'staging'));
    expect(stackName).toBe('certification-notifier-staging');
  });

  it('is never deployed over another one: its stack is named after it', () => {
    staging({ stackName: 'certification-notifier' });
    const { status, stderr } = synthesizedFor('staging', 'refused');
    expect(status).toBe(1);
    expect(stderr).toContain('stackName: "certification-notifier" found; allowed: ');
    expect(stderr).toContain('ends with "-staging"');
  });

  it('is not the main configuration once more, where its own file would have the same name', () => {
    const settings = configFile('settings.mjs', twoDistricts);
    const { status, stdout, stderr } = node([app, settings], {
      CDK_OUTDIR: join(folder, 'twice'),
      CDK_CONTEXT_JSON: JSON.stringify({ env: 'staging', 'aws:cdk:bundling-stacks': [] }),
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr.trim().split('\n')).toEqual([
      `${settings} has a problem:`,
      '  env: "staging" found; allowed: none beside a file of this name. Called *.config.mjs, it would be *.staging.config.mjs that says what staging is',
      'Correct the named settings and run this again.',
    ]);
  });

  it.each([
    ['production', 'deployed.production.config.mjs cannot be loaded: Cannot find module'],
    ['../staging', 'env: "../staging" found; allowed: lower-case letters'],
    ['', 'env: "" found; allowed: lower-case letters'],
  ])('that there is none of is said plainly: %j', (env, expected) => {
    const { status, stderr } = synthesizedFor(env, 'none');
    expect(status).toBe(1);
    expect(stderr).toContain(expected);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
