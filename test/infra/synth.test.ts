import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAssembly } from '../../local/aws/assembly.ts';
import { clean, configFile, everything, folder, synthesis, twoDistricts } from './synthesis.ts';

it('cdk-nag finds nothing in a stack of everything', async () => {
  const file = configFile('everything.config.mjs', { ...everything, topic: 'fifo' });
  expect(await synthesis(file, { into: 'everything' })).toEqual(clean);
});

it('a configuration without a subscriber to operations causes a warning', async () => {
  const file = configFile('unheard.config.mjs', { ...twoDistricts, subscriptions: [] });
  const { status, found } = await synthesis(file, { into: 'unheard' });
  expect(status).toBe(0);
  expect(found).toMatch(/nobody is subscribed to 'operations': notices and alarms reach nobody/);
});

it('the demo has no findings, though nobody subscribes to operations', async () => {
  const file = configFile('unread.config.mjs', {});
  expect(await synthesis(file, { into: 'demo', context: { demo: 'true' } })).toEqual(clean);
});

it('an environment has its own configuration and stack', async () => {
  const file = configFile('own.config.mjs', {});
  configFile('own.staging.config.mjs', { ...twoDistricts, terminationProtection: false });
  expect(await synthesis(file, { into: 'staging', context: { env: 'staging' } })).toEqual(clean);
  const { stackName } = readAssembly(join(folder, 'staging'));
  expect(stackName).toBe('certification-notifier-staging');
});

describe('a refused synthesis ends with plain lines, without a stack trace, and with exit code 1:', () => {
  const main = configFile('main.config.mjs', twoDistricts);
  const settings = configFile('settings.mjs', twoDistricts);
  configFile('main.over.config.mjs', { ...twoDistricts, stackName: 'certification-notifier' });
  const [district] = twoDistricts.integrations;
  const bad = configFile('bad.config.mjs', {
    integrations: [{ ...district, name: 'A', every: 0 }],
  });
  const local = configFile('local.config.mjs', {
    integrations: [{ ...district, baseUrl: 'http://localhost:3000' }],
  });
  const has = 'the context has a problem:';

  it.each<[file: string, context: object, ...lines: string[]]>([
    [
      local,
      {},
      'has a problem:',
      '  integrations[0].baseUrl: "http://localhost:3000" found; allowed: a host that AWS can reach',
    ],
    [
      bad,
      {},
      `${bad} has 2 problems:`,
      '  integrations[0].name: "A" found; allowed: lower-case letters',
      '  integrations[0].every: 0 found; allowed: minutes',
    ],
    [
      main,
      { env: 'over' },
      'main.over.config.mjs has a problem:',
      '  stackName: "certification-notifier" found; allowed: a name that ends with "-over"',
    ],
    [
      settings,
      { env: 'staging' },
      `${settings} has a problem:`,
      '  env: "staging" found; allowed: none beside a file of this name. Call the file *.config.mjs; then *.staging.config.mjs has the settings of staging',
    ],
    [main, { env: 'production' }, 'main.production.config.mjs is not found.'],
    [main, { env: '../staging' }, has, '  env: "../staging" found; allowed: lower-case letters'],
    [main, { env: '' }, has, '  env: "" found; allowed: lower-case letters'],
    [main, { demo: 'yes' }, has, '  demo: "yes" found; allowed: true, or none'],
    [main, { demo: 'true', env: 'a' }, has, '  env: "a" found; allowed: none beside demo'],
  ])('%s, %j', async (file, context, ...lines) => {
    const { status, stderr, found } = await synthesis(file, { context });
    expect({ status, found }).toEqual({ status: 1, found: '' });
    const [remedy, ...told] = stderr.trim().split('\n').toReversed();
    expect(told.toReversed()).toEqual(lines.map((line) => expect.stringContaining(line)));
    expect(remedy).toMatch(
      /^(Correct the named settings and run this again|Check its name, .*)\.$/,
    );
  });
});
