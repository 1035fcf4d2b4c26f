import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const oldest = manifest.engines.node.replace('>=', '');

it.each([
  ['22.9.0', 1, `certification-notifier needs Node ${oldest} or later. This is Node 22.9.0 (`],
  [oldest, 0, ''],
])(
  'the construct, imported on a Node that says it is %s, ends with %i',
  (version, status, said) => {
    const claim = `Object.defineProperty(process.versions,"node",{value:"${version}"})`;
    const construct = join(import.meta.dirname, '../../infra/index.ts');
    const args = ['--import', `data:text/javascript,${claim}`, construct];
    const ended = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(ended).toMatchObject({ status, stderr: expect.stringContaining(said) });
    if (status === 0) expect(ended.stderr).toBe('');
  },
);
