import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAssembly } from '../../local/aws/assembly.ts';
import { Newcomer } from '../support/newcomer.ts';

const page = readFileSync(new URL('../../docs/construct.md', import.meta.url), 'utf8');
const [, example = ''] = page.match(/```ts\n(import .*?)```/s) ?? [];

let team: Newcomer;
beforeAll(() => {
  team = new Newcomer({ functions: true });
  team.install('aws-cdk-lib', 'constructs', 'zod');
});
afterAll(() => team.remove());

describe("the package in a team's own app", () => {
  it('fits the example of the guide', () => {
    expect(team.typeErrors({ 'app.ts': example })).toBe('');
  });

  it('brings the functions that are deployed: with the CDK and zod, nothing else is needed', () => {
    team.write('app.ts', example);
    const outdir = join(team.folder, 'cdk.out');
    const { stderr } = team.run('node', ['app.ts'], team.folder, { CDK_OUTDIR: outdir });
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
      'the configuration of Theirs/Notifier has a problem:\n  integrations: a list of 0 found; allowed: 1 to 24 integrations\n',
    );
  });
});
