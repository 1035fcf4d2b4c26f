import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleOptions, functionNames } from '../infra/bundling/options.ts';
import { readAssembly } from '../local/aws/assembly.ts';
import { event } from './consumer/events.ts';
import { Newcomer, PackedPackage } from './support/newcomer.ts';

const root = join(import.meta.dirname, '..');
let packed: PackedPackage;
let subscriber: Newcomer;
let team: Newcomer;

beforeAll(() => {
  packed = new PackedPackage();
  subscriber = new Newcomer(packed);
  subscriber.install('zod', 'temporal-polyfill', 'sns-payload-validator');
  team = new Newcomer(packed);
  team.install('aws-cdk-lib', 'constructs', 'zod');
});
afterAll(() => {
  for (const one of [subscriber, team, packed]) one?.remove();
});

describe('the packed package, at a subscriber,', () => {
  it('handles an event with three dependencies', () => {
    const { stdout, stderr } = subscriber.node(
      'once.js',
      `import { memoryStore, onlyOnce, parseEvent, verifySnsMessage, webhook } from 'certification-notifier/consumer';
       const once = onlyOnce(memoryStore());
       const event = parseEvent(${JSON.stringify({ Body: JSON.stringify(event()) })});
       for (const _ of [1, 2]) console.log(await once(event, async ({ id }) => console.log(id)));
       console.log(typeof verifySnsMessage, typeof webhook);`,
    );
    expect(stderr).toBe('');
    expect(stdout).toBe('district-a/48213/1\nhandled\nduplicate\nfunction function\n');
  });

  it('needs the SDK for the store in DynamoDB only', () => {
    const source = `import { dynamoStore } from 'certification-notifier/consumer/dynamodb';
      console.log(typeof dynamoStore);`;
    subscriber.uninstall('@aws-sdk/client-dynamodb');
    expect(subscriber.node('without.js', source).stderr).toContain("'@aws-sdk/client-dynamodb'");
    subscriber.install('@aws-sdk/client-dynamodb');
    expect(subscriber.node('with.js', source).stdout).toBe('function\n');
  });

  it('is typed: an event is told apart by its type', () => {
    const source = `import { parseEvent } from 'certification-notifier/consumer';
      const event = parseEvent('');
      if (event.type === 'certification.created') event.data.assessment.name satisfies string | null | undefined;
      if (event.type === 'unknown') event.announced satisfies string;
      // @ts-expect-error: an event of a later version has no data that is known
      event.data;`;
    subscriber.install('@aws-sdk/client-dynamodb');
    expect(subscriber.typeErrors({ 'typed.ts': source })).toBe('');
  });

  it('fits the programs of the guide', () => {
    const guide = readFileSync(join(root, 'docs/subscribing.md'), 'utf8');
    const programs = [...guide.matchAll(/```ts\n(import .*?)```/gs)].map(
      ([, program = ''], index) => [`guide-${index}.ts`, program] as const,
    );
    expect(programs).toHaveLength(3);
    subscriber.install('@aws-sdk/client-dynamodb');
    expect(subscriber.typeErrors(Object.fromEntries(programs))).toBe('');
  });

  it("holds the operators' command line, with what it depends on", () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    subscriber.install(...Object.keys(dependencies));
    const { bin } = JSON.parse(readFileSync(join(subscriber.installed, 'package.json'), 'utf8'));
    const program = join(subscriber.installed, bin['certification-notifier']);
    const help = subscriber.run('node', [program, '--help']);
    expect(help.stderr).toBe('');
    expect(help.stdout).toContain('Usage: certification-notifier');
    // The console loads what it needs before it looks for the instance.
    for (const command of ['status', 'console']) {
      const nobody = subscriber.run('node', [program, command, '--local']);
      expect({ command, status: nobody.status }).toEqual({ command, status: 3 });
    }
  });

  it('serves assistants without a package of theirs', async () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    subscriber.install(...Object.keys(dependencies));
    const installed = readdirSync(join(subscriber.folder, 'node_modules'));
    for (const other of ['@modelcontextprotocol', '@hono', 'hono'])
      expect(installed).not.toContain(other);
    const { bin } = JSON.parse(readFileSync(join(subscriber.installed, 'package.json'), 'utf8'));
    const client = new Client({ name: 'assistant', version: '1.0.0' });
    await client.connect(
      new StdioClientTransport({
        command: 'node',
        args: [join(subscriber.installed, bin['certification-notifier']), 'mcp', '--local'],
        cwd: subscriber.folder,
        env: { PATH: process.env.PATH ?? '', NOTIFIER_LOCAL: subscriber.folder },
      }),
    );
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('explain');
    expect(await client.callTool({ name: 'status', arguments: {} })).toMatchObject({
      isError: true,
      structuredContent: { problem: { code: 'not-found' } },
    });
    await client.close();
  });

  it('serves the console without a package of its own, on the Node of the machine', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    subscriber.install(...Object.keys(dependencies));
    const { bin } = JSON.parse(readFileSync(join(subscriber.installed, 'package.json'), 'utf8'));
    const program = join(subscriber.installed, bin['certification-notifier']);
    // As npx finds it, which need not be the one that this project brings.
    const node = process.env['npm_node_execpath'] ?? process.execPath;
    const help = subscriber.run(node, [program, 'console', '--help']);
    expect(help.stderr).toBe('');
    expect(help.stdout).toContain('Usage: certification-notifier console');
    subscriber.write(
      'serve.js',
      `import { serveConsole } from './node_modules/certification-notifier/dist/console/index.js';
       const door = { title: 'theirs', integrations: async () => ['district-a'], place: () => ({ at: '--local' }) };
       const served = await serveConsole(door, 0);
       const page = await fetch(new URL('i/district-a/commands/release', served.url));
       console.log(page.status, await page.text());
       await served[Symbol.asyncDispose]();`,
    );
    const served = subscriber.run(node, ['serve.js']);
    expect(served.stderr).toBe('');
    expect(served.stdout).toMatch(/^200 .*<h1>release<\/h1>/s);
  });

  /** Node 20 lacks them, and the functions, which have them, run on Node 24. */
  it('needs nothing that the oldest Node which it names does not have', () => {
    const later =
      /Promise\.(withResolvers|try)|(Map|Object)\.groupBy|Array\.fromAsync|RegExp\.escape|Error\.isError|Iterator\.from/;
    for (const room of ['console', 'consumer', 'ops']) {
      const folder = join(subscriber.installed, 'dist', room);
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.js') && !name.endsWith('library.js'))
        .filter((name) => later.test(readFileSync(join(folder, name), 'utf8')));
      expect({ room, files }).toEqual({ room, files: [] });
    }
  });

  it('has the licences of what is bundled for that, and for the console', () => {
    const notices = join(subscriber.installed, 'dist/ops/mcp/THIRD-PARTY-NOTICES.txt');
    const text = readFileSync(notices, 'utf8');
    for (const part of ['core', 'server']) {
      const folder = join(root, 'node_modules/@modelcontextprotocol', part);
      const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      expect(text).toContain(`@modelcontextprotocol/${part} ${version}\n`);
      expect(text).toContain(readFileSync(join(folder, 'LICENSE'), 'utf8').trim());
    }
    expect(text).toContain('Copyright (c) 2015 Douglas Christopher Wilson');
    const ofConsole = join(subscriber.installed, 'dist/console/THIRD-PARTY-NOTICES.txt');
    expect(readFileSync(ofConsole, 'utf8')).toMatch(/^@hono\/node-server \d.*\n(.*\n)*hono \d/m);
    // Built into the SDK without its licence, and left out of the bundle.
    const bundle = readFileSync(join(subscriber.installed, 'dist/ops/mcp/library.js'), 'utf8');
    expect(bundle).not.toMatch(/\bajv\b/i);
  });

  it('holds what is exported, and nothing of what runs locally', () => {
    const rooms = ['console', 'consumer', 'functions', 'infra', 'lambda', 'local', 'ops'];
    expect(readdirSync(join(subscriber.installed, 'dist')).sort()).toEqual(rooms);
    const local = readdirSync(join(subscriber.installed, 'dist/local'));
    expect(local.filter((name) => name.endsWith('.js'))).toEqual(['errors.js', 'instance.js']);
  });
});

describe('the functions in the packed package', () => {
  it('come with the licence of each package that is bundled into them', async () => {
    const { metafile } = await build({
      ...bundleOptions,
      entryPoints: functionNames.map((name) => join(root, 'lambda', `${name}.ts`)),
      outdir: subscriber.folder,
      absWorkingDir: root,
      metafile: true,
      write: false,
    });
    const files = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
    const packages = new Set(
      files.flatMap((file) => /.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
    );
    expect([...packages]).toContain('node_modules/undici');

    const notices = readFileSync(
      join(subscriber.installed, 'dist/functions/THIRD-PARTY-NOTICES.txt'),
      'utf8',
    );
    for (const folder of packages) {
      const { name, version } = JSON.parse(
        readFileSync(join(root, folder, 'package.json'), 'utf8'),
      );
      expect(notices).toContain(`${name} ${version}\n`);
      for (const file of readdirSync(join(root, folder)))
        if (/^(license|licence|notice|copying)/i.test(file))
          expect(notices).toContain(readFileSync(join(root, folder, file), 'utf8').trim());
    }
    // Within undici, which does not say so.
    expect(notices).toContain('Copyright Fedor Indutny');
  });
});

describe("the packed package, in a team's own app,", () => {
  const page = readFileSync(join(root, 'docs/construct.md'), 'utf8');
  const [, example = ''] = page.match(/```ts\n(import .*?)```/s) ?? [];

  it('fits the example of the guide', () => {
    expect(team.typeErrors({ 'app.ts': example })).toBe('');
  });

  it('brings the functions that are deployed: with the CDK and zod, nothing else is needed', () => {
    team.write('app.ts', example);
    const outdir = join(team.folder, 'cdk.out');
    const { stderr } = team.run('node', ['app.ts'], { CDK_OUTDIR: outdir });
    expect(stderr).toBe('');
    const { template } = readAssembly(outdir);
    const types = Object.values(template.Resources).map(({ Type }) => Type);
    expect(types.filter((type) => type === 'AWS::Lambda::Function')).toHaveLength(3);
    expect(types.filter((type) => type === 'AWS::SNS::Subscription')).toHaveLength(2);
    const deployed = readdirSync(outdir)
      .map((name) => join(outdir, name, 'index.mjs'))
      .filter((file) => existsSync(file))
      .map((file) => readFileSync(file, 'utf8'));
    const brought = ['operate', 'poll'].map((name) =>
      readFileSync(join(team.installed, 'dist/functions', name, 'index.mjs'), 'utf8'),
    );
    expect(deployed.toSorted()).toEqual(brought.toSorted());
  });

  it('may be required by an app of CommonJS', () => {
    const { stdout, stderr } = team.node(
      'app.cjs',
      `const { App, Stack } = require('aws-cdk-lib');
       const { CertificationNotifier } = require('certification-notifier/cdk');
       const stack = new Stack(new App(), 'Theirs');
       try { new CertificationNotifier(stack, 'Notifier', { integrations: [] }); }
       catch ({ message }) { console.log(message); }`,
    );
    expect(stderr).toBe('');
    expect(stdout).toBe(
      'the configuration of Theirs/Notifier has a problem:\n  integrations: a list of 0 found; allowed: 1 to 22 integrations\n',
    );
  });
});
