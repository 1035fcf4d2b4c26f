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
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseConfig } from '../../infra/config.ts';
import { run } from '../../infra/run.ts';
import { cachedAssembly } from '../../local/assembly-cache.ts';
import { readAssembly } from '../../local/aws/assembly.ts';
import { isSystemError } from '../../local/errors.ts';
import { functionEnvironment } from '../scaffold/settings.ts';
import { compileCache } from '../support/compile-cache.ts';
import { RunningProgram } from '../support/running.ts';

const folder = mkdtempSync(join(tmpdir(), 'synth-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const root = fileURLToPath(new URL('../..', import.meta.url));
const app = join(root, 'infra/app.ts');
const district = { baseUrl: 'https://partner.example.org', timeZone: 'UTC' };
const twoDistricts = {
  integrations: [
    { ...district, name: 'district-a' },
    { ...district, name: 'district-b', baseline: 'fan-out' },
  ],
  subscriptions: [{ topic: 'operations', protocol: 'email', endpoint: 'on-call@example.org' }],
};

function node(args: string[], variables: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env;
  return spawnSync(process.execPath, args, {
    // The host's own settings are left out, as on a machine that has never used AWS.
    env: { PATH, HOME, NODE_COMPILE_CACHE: compileCache, ...variables },
    cwd: root,
    encoding: 'utf8',
  });
}

const configFile = (name: string, config: unknown) => {
  const file = join(folder, name);
  writeFileSync(file, `export default ${JSON.stringify(config)};`);
  return file;
};

const readJson = (name: string) => JSON.parse(readFileSync(join(outdir, name), 'utf8'));

const assetsIn = (directory: string) =>
  readdirSync(directory).filter((name) => name.startsWith('asset.'));

/**
 * The app in this process, which loads the CDK once, and without the functions' code.
 *
 * @param judged by the CDK's validator, which takes seconds: not for tests of our own refusals or
 * names
 * @returns `found`: the CDK's findings
 */
async function synthesis(file: string, { into = 'none', judged = false, context = {} } = {}) {
  vi.stubEnv('CDK_OUTDIR', join(folder, into));
  vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify({ 'aws:cdk:bundling-stacks': [], ...context }));
  vi.stubEnv('CDK_VALIDATION', String(judged));
  let found = '';
  const find = (text: unknown) => {
    found += text;
    return true;
  };
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation(find);
  for (const method of ['log', 'info', 'warn', 'error'] as const)
    vi.spyOn(console, method).mockImplementation(find);
  const { exitCode, stderr } = await new RunningProgram(run, [file]).ended;
  return { status: exitCode, stderr, found };
}

const clean = { status: 0, stderr: '', found: '' };

const outdir = join(folder, 'cli');
const synth = node([app, configFile('good.config.mjs', twoDistricts)], {
  CDK_OUTDIR: outdir,
  CDK_VALIDATION: 'false',
});

it('a partner that only this machine can reach is refused, since AWS cannot', async () => {
  const local = { name: 'district-a', timeZone: 'UTC', baseUrl: 'http://localhost:3000' };
  const file = configFile('local.config.mjs', { integrations: [local] });
  const { status, stderr } = await synthesis(file);
  expect(stderr).toContain(
    'integrations[0].baseUrl: "http://localhost:3000" found; allowed: a host that AWS can reach',
  );
  expect(status).toBe(1);
});

describe('synthesizing the app', () => {
  it('prints only its bundles', () => {
    expect(synth.stderr.replaceAll(/^Bundling asset .*\n/gm, '')).toBe('');
    expect({ status: synth.status, stdout: synth.stdout }).toEqual({ status: 0, stdout: '' });
  });

  it('bundles each of the three functions once for all integrations', () => {
    const assets = assetsIn(outdir);
    expect(assets).toHaveLength(3);
    for (const asset of assets) expect(readdirSync(join(outdir, asset))).toEqual(['index.mjs']);
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
    // The template and three functions. No program makes anything during the deployment.
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

  it('writes the template without indentation, which would count to its size', () => {
    const written = readFileSync(join(outdir, 'certification-notifier.template.json'), 'utf8');
    expect(written).toBe(JSON.stringify(JSON.parse(written)));
  });

  it('makes the same bundle again at any place', async () => {
    const elsewhere = await cachedAssembly(parseConfig(twoDistricts));
    expect(assetsIn(elsewhere)).toEqual(assetsIn(outdir));
  });

  it.each(['poll', 'operate', 'fan-out'])('keeps the source map of %s aside', (name) => {
    const map = JSON.parse(readFileSync(join(outdir, 'source-maps', `${name}.mjs.map`), 'utf8'));
    expect(map.sources.some((source: string) => source === `lambda/${name}.ts`)).toBe(true);
  });

  it('has source maps that translate a stack trace of a bundle', () => {
    const bundles = assetsIn(outdir).map((asset) => join(outdir, asset, 'index.mjs'));
    const { stdout: input } = node([
      '--input-type=module',
      '-e',
      // For an uncaught error, Node also shows the line, which exceeds a pipe's buffer here.
      bundles
        .map((bundle) => `await import('${bundle}').catch(({ stack }) => console.log(stack));`)
        .join('\n'),
    ]);
    expect(input.match(/^\w*Error/gm)).toHaveLength(3);
    for (const name of ['poll', 'operate', 'fan-out']) {
      const trace = [join(root, 'scripts/trace.ts'), name, '--assembly', outdir];
      const { stdout } = spawnSync(process.execPath, trace, { input, encoding: 'utf8' });
      expect(stdout).toContain(`at lambda/${name}.ts:`);
    }
  });

  it.each([0, 1, 2])(
    'makes bundle %i of at most 720,000 bytes; 755,000 with the commands',
    (index) => {
      const bundle = join(outdir, assetsIn(outdir)[index] ?? '', 'index.mjs');
      const isOfCommands = readFileSync(bundle, 'utf8').includes('kms:GetKeyPolicy');
      expect(statSync(bundle).size).toBeLessThanOrEqual(isOfCommands ? 755_000 : 720_000);
    },
  );

  it.each([0, 1, 2])('makes bundle %i that Lambda can load, with all it needs', (index) => {
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

describe('cdk-nag and the built-in validator find nothing in', () => {
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
      { topic: 'events', protocol: 'event-bus', bus: 'default', filter: { late: false } },
      { topic: 'events', protocol: 'event-bus', bus: 'certifications' },
      { topic: 'events', protocol: 'archive', keepDays: 400 },
      { topic: 'alerts', protocol: 'slack', workspace: 'T0123ABCD', channel: 'C0123ABCD' },
      { topic: 'operations', protocol: 'slack', workspace: 'T0123ABCD', channel: 'C0123ABCD' },
      {
        topic: 'operations',
        protocol: 'teams',
        tenant: '0b3a1c52-6f0e-4d0c-9a4b-1d2e3f405162',
        team: '1c4b2d63-7f1f-4e1d-8b5c-2e3f40516273',
        channel: '19%3Aab1c2d%40thread.tacv2',
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
  const stacks = new Map<string, object>([
    ['two-districts', twoDistricts],
    ['everything', everything],
    ['everything-fifo', { ...everything, topic: 'fifo' }],
  ]);
  const known = new Map<string, ReturnType<typeof synthesis>>();
  const judged = (name: string) => {
    const file = configFile(`${name}.config.mjs`, stacks.get(name));
    const one = known.get(name) ?? synthesis(file, { into: name, judged: true });
    known.set(name, one);
    return one;
  };

  it.each([...stacks.keys()])('a stack of %s', async (name) => {
    expect(await judged(name)).toEqual(clean);
  });

  it("a template, by AWS's schemas, if its cfn-lint is installed", async () => {
    const names = ['everything', 'everything-fifo'];
    for (const name of names) await judged(name);
    const templates = names.map((name) =>
      join(folder, name, 'certification-notifier.template.json'),
    );
    const { error, status, stdout } = spawnSync('cfn-lint', templates, { encoding: 'utf8' });
    if (isSystemError(error, 'ENOENT')) return;
    expect({ error, status, stdout }).toEqual({ error: undefined, status: 0, stdout: '' });
  });
});

it('a configuration without a subscriber to operations causes a warning', async () => {
  const file = configFile('unheard.config.mjs', { ...twoDistricts, subscriptions: [] });
  const { status, found } = await synthesis(file, { into: 'unheard', judged: true });
  expect(status).toBe(0);
  expect(found).toMatch(/nobody is subscribed to 'operations': notices and alarms reach nobody/);
});

it('the demo has no findings, though nobody subscribes to operations', async () => {
  const file = configFile('unread.config.mjs', {});
  const context = { demo: 'true' };
  expect(await synthesis(file, { into: 'demo', judged: true, context })).toEqual(clean);
});

describe('a wrong configuration', () => {
  it('ends the synthesis with plain lines, without a stack trace, and with exit code 1', () => {
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
    // The paths have no spaces, for any place of the checkout.
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

  it('whose template CloudFormation would refuse ends the synthesis, which the CDK alone does not', async () => {
    const assessments = Array.from({ length: 150 }, (_, index) => `${index} `.padEnd(100, 'name '));
    const subscriptions = Array.from({ length: 60 }, (_, index) => ({
      topic: 'events',
      protocol: 'https',
      endpoint: `https://hook-${index}.example.org/x`,
      filter: { assessments },
    }));
    const file = configFile('large.config.mjs', { ...twoDistricts, subscriptions });
    const { status, stderr } = await synthesis(file, { into: 'large' });
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /\n {2}subscriptions: a template of 1,\d+,\d+ bytes found; allowed: .*\n/,
    );
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  describe('that cannot be loaded is reported by Node with file and line:', () => {
    const broken = {
      'a syntax error': ['export default {\n a: "1" b: 2 };', ':2 cannot be loaded: '],
      'an unknown name': [
        '\n\nexport default { a: q7Zt0pXw93LmVb2KcYd8Hs5RfNg1Ju6T };',
        ':3 cannot',
      ],
      'an import of nothing': [
        'import "./none.ts"; export default {};',
        ' cannot be loaded: Cannot',
      ],
    };
    const fileOf = (name: string) => join(folder, `${name.replaceAll(' ', '-')}.config.ts`);
    let told: string[];

    beforeAll(() => {
      for (const [name, [content = '']] of Object.entries(broken))
        writeFileSync(fileOf(name), content);
      const { stdout } = node([
        '--input-type=module',
        '-e',
        `import { run } from ${JSON.stringify(new URL('../../infra/run.ts', import.meta.url))};
         for (const file of process.argv.slice(1)) {
           let stderr = '';
           const errors = { write: (text) => { stderr += text; } };
           const status = await run([file], { streams: { errors } });
           console.log(JSON.stringify({ status, stderr }));
         }`,
        ...Object.keys(broken).map(fileOf),
      ]);
      told = stdout.trim().split('\n');
    });

    it.each(Object.entries(broken))('%s', (name, [, expected]) => {
      const { status, stderr } = JSON.parse(told[Object.keys(broken).indexOf(name)] ?? '');
      expect(status).toBe(1);
      expect(stderr).toContain(`${fileOf(name)}${expected}`);
      expect(stderr).not.toContain('q7Zt0p');
      expect(stderr.trim().split('\n')).toHaveLength(2);
      expect(told).toHaveLength(3);
    });
  });
});

describe('an environment', () => {
  const main = configFile('deployed.config.mjs', twoDistricts);
  /** The main configuration, and an environment's beside it. */
  const withStaging = (name: string, settings: object) => {
    const file = configFile(`${name}.config.mjs`, twoDistricts);
    configFile(`${name}.staging.config.mjs`, { ...twoDistricts, ...settings });
    return file;
  };
  const synthesisFor = (env: string, file: string, into = 'none') =>
    synthesis(file, { into, context: { env } });

  it('has its own configuration and stack', async () => {
    const file = withStaging('own', { terminationProtection: false });
    expect(await synthesisFor('staging', file, 'staging')).toEqual(clean);
    const { stackName } = readAssembly(join(folder, 'staging'));
    expect(stackName).toBe('certification-notifier-staging');
  });

  it('is never deployed over another one, since its stack has its name', async () => {
    const file = withStaging('over', { stackName: 'certification-notifier' });
    const { status, stderr } = await synthesisFor('staging', file);
    expect(status).toBe(1);
    expect(stderr).toContain('stackName: "certification-notifier" found; allowed: ');
    expect(stderr).toContain('ends with "-staging"');
  });

  it('is not the main configuration again if its own file would have the same name', async () => {
    const settings = configFile('settings.mjs', twoDistricts);
    const { status, stderr, found } = await synthesisFor('staging', settings);
    expect({ status, found }).toEqual({ status: 1, found: '' });
    expect(stderr.trim().split('\n')).toEqual([
      `${settings} has a problem:`,
      '  env: "staging" found; allowed: none beside a file of this name. Call the file *.config.mjs; then *.staging.config.mjs has the settings of staging',
      'Correct the named settings and run this again.',
    ]);
  });

  it.each([
    ['production', 'deployed.production.config.mjs is not found.'],
    ['../staging', 'env: "../staging" found; allowed: lower-case letters'],
    ['', 'env: "" found; allowed: lower-case letters'],
  ])('that does not exist is reported plainly: %j', async (env, expected) => {
    const { status, stderr } = await synthesisFor(env, main);
    expect(status).toBe(1);
    expect(stderr).toContain(expected);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
