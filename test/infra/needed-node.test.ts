import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const construct = join(import.meta.dirname, '../../infra/index.ts');
const oldest = manifest.engines.node.replace('>=', '');

/** Imports the construct on a Node that says it is of another version. */
const imported = (version: string) => {
  const said = `Object.defineProperty(process.versions,"node",{value:"${version}"})`;
  return spawnSync(process.execPath, ['--import', `data:text/javascript,${said}`, construct], {
    encoding: 'utf8',
  });
};

it.each(['20.20.2', '22.9.0'])(
  'the construct says on Node %s which version it needs',
  (version) => {
    const { status, stderr } = imported(version);
    expect(status).toBe(1);
    expect(stderr).toContain(
      `Error: certification-notifier needs Node ${oldest} or later. This is Node ${version} (${process.execPath}).\n`,
    );
  },
);

it('the construct can be imported on the oldest Node that it names', () => {
  expect(imported(oldest)).toMatchObject({ status: 0, stderr: '' });
});
