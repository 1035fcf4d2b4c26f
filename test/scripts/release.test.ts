import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { type Release, releaseProblems } from '../../scripts/release/problems.ts';

const changelog = '# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-11-21\n\n### Added\n\n- It.\n';

const sound: Release = {
  version: '0.2.0',
  changelog,
  today: Temporal.PlainDate.from('2026-11-21'),
  unreleased: [],
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
      ...{ version: 'npm run release:check', 'prerelease:check': 'npm run --silent build' },
    },
  });
});
