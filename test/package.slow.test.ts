import { copyFileSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readAssembly } from '../local/aws/assembly.ts';
import manifest from '../package.json' with { type: 'json' };
import { contractFiles } from '../scripts/contract/files.ts';
import { tarballProblems } from '../scripts/release/problems.ts';
import { event } from './consumer/events.ts';
import { Duty } from './ops/duty.ts';
import { eachCommand } from './ops/each-command.ts';
import { Newcomer, PackedPackage } from './support/newcomer.ts';
import { type NodeMissing, nodeOfVersion } from './support/node-of-version.ts';

const root = join(import.meta.dirname, '..');
const launcher = `node_modules/certification-notifier/${manifest.bin['certification-notifier']}`;
const oldestNode = manifest.engines.node.replace('>=', '');
/** The registry's `latest`. All other tests here run on Lambda's version. */
const newestNode = '26.10.0';
/** Lambda switches off `require` of ES modules. */
const asInLambda = ['--no-experimental-require-module'];

let packed: PackedPackage;
let subscriber: Newcomer;
let team: Newcomer;
const nodes = new Map<string, string | NodeMissing>();
/** A project with all peer dependencies of the package. */
let user: Newcomer;
// The deployment behind the command line. Its commands change no data that another run of them
// reads.
const duty = new Duty();

beforeAll(async () => {
  const fetched = [oldestNode, newestNode].map(async (version) =>
    nodes.set(version, await nodeOfVersion(version)),
  );
  packed = new PackedPackage();
  subscriber = new Newcomer(packed);
  subscriber.install('zod', 'temporal-polyfill', 'sns-payload-validator');
  team = new Newcomer(packed);
  team.install('aws-cdk-lib', 'constructs', 'zod');
  user = new Newcomer(packed);
  user.install('aws-cdk-lib', 'constructs', ...Object.keys(manifest.dependencies));
  await duty.build();
  await duty.raise();
  await duty.stage.completedTick();
  await Promise.all(fetched);
});
afterAll(async () => {
  for (const one of [subscriber, team, user, packed]) one?.remove();
  await duty.strike();
  await duty.dismantle();
});

const countOf = (outdir: string, type: string) =>
  Object.values(readAssembly(outdir).template.Resources).filter(({ Type }) => Type === type).length;

/** The app of the guide. */
const [, exampleApp = ''] =
  readFileSync(join(root, 'docs/configuration.md'), 'utf8').match(
    /compiles and synthesizes this\. -->\n```ts\n(.*?)```/s,
  ) ?? [];

const program = `const { memoryStore, onlyOnce, parseEvent, verifySnsMessage, webhook } = consumer;
  const once = onlyOnce(memoryStore());
  const event = parseEvent(${JSON.stringify({ Body: JSON.stringify(event()) })});
  (async () => {
    for (const _ of [1, 2]) console.log(await once(event, async ({ id }) => console.log(id)));
    console.log(typeof verifySnsMessage, typeof webhook);
  })();`;
const handledOnce = 'district-a/48213/1\nhandled\nduplicate\nfunction function\n';
const forms = [
  ['once.mjs', "import * as consumer from 'certification-notifier/consumer';"],
  ['once.cjs', "const consumer = require('certification-notifier/consumer');"],
] as const;
const ofEachPart = `${forms[1][1]}
  const { StoreUnavailableError } = require('certification-notifier/consumer/dynamodb');
  if (StoreUnavailableError !== consumer.StoreUnavailableError) throw new Error('two classes');
  if (!require('certification-notifier/partner').createPartnerClient) throw new Error('no client');`;

describe('the packed package, at a subscriber,', () => {
  it.each(forms)('handles an event with three dependencies: %s, as in Lambda', (file, start) => {
    subscriber.write(file, `${start}\n${program}`);
    const { stdout, stderr } = subscriber.run('node', [...asInLambda, file]);
    expect({ stdout, stderr }).toEqual({ stdout: handledOnce, stderr: '' });
  });

  it('is sound by publint, and by attw except for the construct', () => {
    const linted = user.run('publint', [
      'run',
      subscriber.installed,
      '--pack',
      'false',
      '--strict',
    ]);
    expect(linted.stdout).toContain('All good!');
    const flags = '--profile node16 --no-definitely-typed --exclude-entrypoints cdk';
    const { status, stdout } = user.run('attw', [packed.file, ...flags.split(' ')]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('consumer') });
  });

  it('needs the SDK only for the store of handled events in DynamoDB', () => {
    const source = `import { dynamoStore } from 'certification-notifier/consumer/dynamodb';
      console.log(typeof dynamoStore);`;
    subscriber.uninstall('@aws-sdk/client-dynamodb');
    expect(subscriber.node('without.js', source).stderr).toContain("'@aws-sdk/client-dynamodb'");
    subscriber.install('@aws-sdk/client-dynamodb');
    expect(subscriber.node('with.js', source).stdout).toBe('function\n');
  });

  it('is typed: an event is distinguished by its type, the schema is JSON, and the guide fits', () => {
    const events = `import { parseEvent } from 'certification-notifier/consumer';
      const event = parseEvent('');
      if (event.type === 'certification.created') event.data.assessment.name satisfies string | null | undefined;
      if (event.type === 'unknown') event.announced satisfies string;
      // @ts-expect-error: an event of a later version has no data that is known
      event.data;`;
    const json = `import schema from 'certification-notifier/events/certification-event-1.schema.json' with { type: 'json' };
      schema.$defs.Assessment.properties.certified_on.format satisfies string;
      // @ts-expect-error: there is no such type of event
      schema.$defs.CertificationLost;`;
    const guide = readFileSync(join(root, 'docs/subscribing.md'), 'utf8');
    const programs = [...guide.matchAll(/```ts\n(import .*?)```/gs)].map(
      ([, program = ''], index) => [`guide-${index}.ts`, program] as const,
    );
    expect(programs).toHaveLength(3);
    subscriber.install('@aws-sdk/client-dynamodb');
    const files = { 'events.ts': events, 'json.ts': json, ...Object.fromEntries(programs) };
    expect(subscriber.typeErrors(files)).toBe('');
  });

  it('has the contract under its name, for imports and for require', () => {
    subscriber.install('ajv', 'ajv-formats', 'ajv-draft-04', 'yaml');
    const { stdout, stderr } = subscriber.node(
      'contract.js',
      `import { readFileSync } from 'node:fs';
       import { createRequire } from 'node:module';
       import { Ajv2020 } from 'ajv/dist/2020.js';
       import Ajv4 from 'ajv-draft-04';
       import formats from 'ajv-formats';
       import { parse } from 'yaml';
       import event from 'certification-notifier/events/certification-event-1.schema.json' with { type: 'json' };
       const require = createRequire(import.meta.url);
       const attributes = require('certification-notifier/events/message-attributes-1.schema.json');
       const busEvent = require('certification-notifier/events/bus-event-1.schema.json');
       const resolved = import.meta.resolve('certification-notifier/events/asyncapi.yaml');
       const asyncApi = parse(readFileSync(new URL(resolved), 'utf8'));
       const [ajv, ajv4] = [new Ajv2020(), new Ajv4.default()];
       for (const one of [ajv, ajv4]) formats.default(one);
       const [isEvent, isBusEvent] = [ajv.compile(event), ajv4.compile(busEvent)];
       const { headers, payload } = asyncApi.components.messages.CertificationCreated.examples[0];
       console.log(isEvent(payload), ajv.compile(attributes)(headers));
       for (const name of Object.keys(asyncApi.components.messages)) {
         const type = name.replace('Certification', 'certification.').toLowerCase();
         const example = require('certification-notifier/events/examples/' + type + '.json');
         const detail = { 'detail-type': type, source: example.source, time: example.time, detail: example };
         console.log(type, isEvent(example), isBusEvent(detail), isEvent({ ...example, id: 7 }));
       }`,
    );
    expect(stderr).toBe('');
    expect(stdout.split('\n')).toEqual([
      'true true',
      ...['created', 'updated', 'withdrawn', 'restored', 'test'].map(
        (type) => `certification.${type} true true false`,
      ),
      '',
    ]);
  });

  it('has only the current files of the contract', () => {
    const docs = readdirSync(join(subscriber.installed, 'docs'), { recursive: true });
    const files = docs.map(String).filter((name) => name.includes('.'));
    const current = [...contractFiles().keys()].map((path) => path.replace('docs/', ''));
    expect(files.toSorted()).toEqual(current.toSorted());
  });

  it('has no file that is not to be published', () => {
    const tarball = readdirSync(subscriber.installed, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((file) => ({ path: relative(subscriber.installed, file), size: statSync(file).size }));
    expect(tarball.length).toBeGreaterThan(500);
    expect(tarballProblems(tarball)).toEqual([]);
  });

  it('has the licences of the packages that are bundled into its parts', () => {
    const textIn = (file: string) => readFileSync(join(subscriber.installed, 'dist', file), 'utf8');
    const ofAssistants = textIn('ops/mcp/THIRD-PARTY-NOTICES.txt');
    for (const part of ['core', 'server'])
      expect(ofAssistants).toMatch(new RegExp(`@modelcontextprotocol/${part} \\d`));
    expect(ofAssistants).toContain('Copyright (c) 2015 Douglas Christopher Wilson');
    expect(textIn('console/THIRD-PARTY-NOTICES.txt')).toMatch(
      /^@hono\/node-server \d.*\n(.*\n)*hono \d/m,
    );
    expect(textIn('consumer/THIRD-PARTY-NOTICES.txt')).toMatch(/^temporal-polyfill \d/m);
    const ofFunctions = textIn('functions/THIRD-PARTY-NOTICES.txt');
    expect(ofFunctions).toMatch(/^undici \d/m);
    // It is within undici, which does not say so.
    expect(ofFunctions).toContain('Copyright Fedor Indutny');
    // This one is built into the SDK without its licence, and left out of the bundle.
    expect(textIn('ops/mcp/library.js')).not.toMatch(/\bajv\b/i);
  });

  it('holds the exports, built before they are packed, and nothing that runs locally', () => {
    const rooms = ['console', 'consumer', 'functions', 'infra', 'lambda', 'local', 'ops'];
    expect(readdirSync(join(subscriber.installed, 'dist')).sort()).toEqual(rooms);
    const local = readdirSync(join(subscriber.installed, 'dist/local'));
    expect(local.filter((name) => name.endsWith('.js'))).toEqual(['errors.js', 'instance.js']);
  });
});

describe("the packed package, in a team's own app,", () => {
  it('fits the example of the guide, and needs only the CDK and zod to deploy the functions', () => {
    expect(team.typeErrors({ 'app.ts': exampleApp })).toBe('');
    team.write('app.ts', exampleApp);
    const outdir = join(team.folder, 'cdk.out');
    const { stderr } = team.run('node', ['app.ts'], { CDK_OUTDIR: outdir });
    expect(stderr).toBe('');
    expect(countOf(outdir, 'AWS::Lambda::Function')).toBe(3);
    expect(countOf(outdir, 'AWS::SNS::Subscription')).toBe(2);
    const bundles = globSync(join(outdir, '*/index.mjs'));
    const deployed = bundles.map((file) => readFileSync(file, 'utf8'));
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

describe('the packed package, with all of its parts in use,', () => {
  it.each(['--module nodenext', '--module esnext --moduleResolution bundler'])(
    'is typed, to its last declaration: %s',
    (module) => {
      const entries = ['cdk', 'consumer', 'consumer/dynamodb', 'partner'];
      const all = entries
        .map((entry, index) => `export * as all${index} from 'certification-notifier/${entry}';`)
        .join('\n');
      const used = `import { CertificationNotifier } from 'certification-notifier/cdk';
        // @ts-expect-error: it has a scope
        new CertificationNotifier();`;
      expect(user.typeErrors({ 'all.ts': all, 'used.ts': used }, module)).toBe('');
    },
  );

  // As text, "22.9" would come after "22.19".
  const older =
    'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"22.9.0"})';

  it.each([
    ['command line', 2, 'error: ', [launcher, 'status']],
    ['construct', 1, '\nError: ', ['--eval', "import('certification-notifier/cdk')"]],
  ])('says on an older Node which version its %s needs', (_, exitCode, start, args) => {
    const { status, stdout, stderr } = user.run('node', ['--import', older, ...args]);
    expect({ status, stdout }).toEqual({ status: exitCode, stdout: '' });
    const needs = `${start}certification-notifier needs Node ${oldestNode} or later.`;
    expect(stderr).toContain(`${needs} This is Node 22.9.0 (`);
  });

  it('has no package of assistants or of the console', () => {
    const installed = readdirSync(join(user.folder, 'node_modules')).join();
    expect(installed).not.toMatch(/@modelcontextprotocol|hono/);
  });
});

const outcome = z.object({ name: z.string(), exitCode: z.int(), stderr: z.string() });
const outcomesSchema = z.array(
  outcome.extend({ stdout: z.string(), opened: z.array(z.int()).optional() }),
);

describe.each([oldestNode, newestNode])('the packed package, on Node %s,', (version) => {
  let node = '';

  beforeEach(({ skip }) => {
    const found = nodes.get(version);
    if (typeof found === 'string') node = found;
    else skip(found?.missing);
  });

  const credentials = () => {
    const { clientId, clientSecret } = duty.stage.sandbox.credentials;
    return JSON.stringify({ client_id: clientId, client_secret: clientSecret });
  };
  const runCommands = async (commands: readonly object[]) => {
    const program = join(import.meta.dirname, 'support/run-commands.mjs');
    copyFileSync(program, join(user.folder, 'run.mjs'));
    const input = JSON.stringify(commands);
    const how = { input, variables: duty.environment };
    const { stdout, stderr } = await user.runBeside(node, ['run.mjs'], how);
    expect(stderr).toBe('');
    return outcomesSchema.parse(JSON.parse(stdout));
  };

  it('carries out each command', async () => {
    const clientInfo = { name: 'assistant', version: '1.0.0' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const said = [
      { id: 1, method: 'initialize', params },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/list' },
    ];
    const assistant = said.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join('');
    const opens = ['', 'i/district-a/proof', 'i/district-a/commands/release'];
    const used: Readonly<Record<string, object>> = {
      ...{ watch: { until: 'Watching' }, listen: { until: 'Posting' } },
      console: { until: 'Ctrl-C', opens },
      mcp: { input: assistant, until: '"id":2' },
      'credentials set': { input: credentials() },
    };
    const outcomes = await runCommands([
      ...eachCommand.map(({ name, args }) => ({
        name,
        args: `${args} --stack ${duty.stack}`,
        ...used[name],
      })),
      ...['bash', 'zsh'].map((shell) => ({ name: shell, args: `completion ${shell}` })),
    ]);
    for (const { name, exitCode, stderr } of outcomes) {
      const ends = /^(watch|listen)$/.test(name);
      const told = ends ? expect.stringContaining('; Ctrl-C ends it.') : '';
      expect({ name, exitCode, stderr }).toEqual({ name, exitCode: 0, stderr: told });
    }
    expect(outcomes.find(({ name }) => name === 'console')?.opened).toEqual([200, 200, 200]);
    expect(outcomes.find(({ name }) => name === 'mcp')?.stdout).toContain('"inputSchema"');
  });

  it('starts by its name, with the environment and the standard input of its process', async () => {
    const args = [launcher, 'credentials', 'set', '--stack', duty.stack];
    const how = { input: credentials(), variables: duty.environment };
    const { exitCode, stdout, stderr } = await user.runBeside(node, args, how);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/stored/i);
  });

  it('handles an event once, imported and required', () => {
    for (const [file, start] of [...forms, ['parts.cjs', ofEachPart] as const]) {
      user.write(file, `${start}\n${program}`);
      expect(user.run(node, [file])).toMatchObject({ stdout: handledOnce, stderr: '' });
    }
  });

  it('synthesizes the stack of the guide', () => {
    user.write('app.ts', exampleApp);
    const outdir = join(user.folder, `cdk-${version}.out`);
    const { stderr } = user.run(node, ['app.ts'], { CDK_OUTDIR: outdir });
    expect(stderr).toBe('');
    expect(countOf(outdir, 'AWS::Lambda::Function')).toBe(3);
  });
});
