import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { refusalsOf } from '../../scripts/release/judges.ts';
import { type Release, releaseProblems } from '../../scripts/release/problems.ts';

const changelog = '# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-11-21\n\n### Added\n\n- It.\n';

const sound: Release = {
  version: '0.2.0',
  changelog,
  today: Temporal.PlainDate.from('2026-11-21'),
  unreleased: [],
  uncommitted: [],
  refusedBy: [],
  tarball: [
    ...['package.json', 'README.md', 'ops/launcher.mjs', 'dist/functions/poll/index.mjs'],
    ...['dist/consumer/index.d.cts', 'dist/consumer/index.cjs', 'dist/consumer/index.js'],
    'docs/events/certification-event-1.schema.json',
  ].map((path) => ({ path, size: 1_000 })),
};

const withLog = (old: string, now: string) => ({ changelog: changelog.replace(old, now) });
const withFile = (path: string, size = 1) => ({ tarball: [...sound.tarball, { path, size }] });

it('a release is sound as it should be, also with the headings of Keep a Changelog', () => {
  expect(releaseProblems(sound)).toEqual([]);
  const bracketed = changelog.replace('0.2.0', '[0.2.0]').replace('Unreleased', '[Unreleased]');
  expect(releaseProblems({ ...sound, changelog: bracketed })).toEqual([]);
});

const log = 'CHANGELOG.md';
it.each<[string, Partial<Release>]>([
  [`${log} has 2 entries below "Unreleased"`, withLog('eased\n', 'eased\n\n- A.\n- B.\n')],
  [`${log} has no entries below "## 0.2.0 - 2026-11-21"`, withLog('0.2.0', '0.2.0-a')],
  [`${log} has no entries below`, withLog('- It.', '')],
  [`${log} has no entries below`, withLog(' - 2026-11-21', ' (soon)')],
  [`${log} says that 0.2.0 is of 2026-11-23, which is in the future`, withLog('11-21', '11-23')],
  [
    'docs/events/bus-event-1.schema.json is not released: cp ',
    { unreleased: ['docs/events/bus-event-1.schema.json'] },
  ],
  ['git has uncommitted changes of README.md', { uncommitted: ['README.md'] }],
  ['attw refuses the tarball: see above', { refusedBy: ['attw'] }],
  ['the tarball has dist/lambda/poll.ts', withFile('dist/lambda/poll.ts')],
  ['the tarball has .local', withFile('.local/instance.json')],
  ['bytes unpacked, more than', withFile('dist/ops/run.js', 20e6)],
])('a release is stopped: %s', (problem, change) => {
  expect(releaseProblems({ ...sound, ...change })).toEqual([expect.stringContaining(problem)]);
});

it('publishing is for everybody, with proof of where it was built, once it is wanted', () => {
  expect(manifest).toMatchObject({
    private: true,
    publishConfig: { access: 'public', provenance: true },
    scripts: {
      ...{ prepack: 'npm run --silent build', prepublishOnly: 'npm run release:check' },
      ...{ 'prerelease:check': 'npm run --silent build' },
    },
  });
});

const root = join(import.meta.dirname, '../..');
it('the docs name the tarball of the present version', () => {
  const pages = globSync('docs/*.md', { cwd: root }).map((page) => readFileSync(join(root, page)));
  const named = pages.join().match(/[\w-]+-\d[\w.-]*\.tgz/g);
  expect(new Set(named)).toEqual(new Set([`${manifest.name}-${manifest.version}.tgz`]));
});

it('every judge of the tarball is asked, also after one has refused it', () => {
  const asked: string[] = [];
  const refusing = refusalsOf('a.tgz', (judge, ...given) => {
    asked.push(`${judge} ${given.join(' ')}`);
    return false;
  });
  expect(refusing).toEqual(['publint', 'attw']);
  expect(asked).toEqual([
    'publint run a.tgz --strict',
    'attw a.tgz --profile node16 --no-definitely-typed --exclude-entrypoints cdk',
  ]);
  expect(refusalsOf('a.tgz', () => true)).toEqual([]);
});
