import { readFileSync } from 'node:fs';
import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import {
  type Release,
  reasonsNotToPublish,
  releaseProblems,
} from '../../scripts/release/problems.ts';

const event = 'certification-event-1.schema.json';
const schema = readFileSync(`docs/events/released/${event}`, 'utf8');
const withContract = (current: string, released?: string) => ({
  contract: new Map([[event, { current, released }]]),
});
const changelog = '# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-11-21\n\n### Added\n\n- It.\n';

const sound: Release = {
  manifest: {
    version: '0.2.0',
    repository: { type: 'git', url: 'git+https://example.org/notifier.git' },
    publishConfig: { access: 'public', provenance: true },
    bin: { 'certification-notifier': 'ops/launcher.mjs' },
    exports: {
      './consumer': {
        require: { types: './dist/consumer/index.d.cts' },
        default: './dist/consumer/index.js',
      },
      './events/*': './docs/events/*',
      './package.json': './package.json',
    },
  },
  lockedVersion: '0.2.0',
  changelog,
  today: Temporal.PlainDate.from('2026-11-21'),
  ...withContract(schema, schema),
  stale: [],
  uncommitted: [],
  tags: ['v0.1.0'],
  tarball: [
    ...['package.json', 'README.md', 'ops/launcher.mjs', 'dist/functions/poll/index.mjs'],
    ...['dist/consumer/index.d.cts', 'dist/consumer/index.cjs', 'dist/consumer/index.js'],
    'docs/events/certification-event-1.schema.json',
  ].map((path) => ({ path, size: 1_000 })),
};

const withLog = (old: string, now: string) => ({ changelog: changelog.replace(old, now) });
const withFile = (path: string, size = 1) => ({ tarball: [...sound.tarball, { path, size }] });
const without = (start: string) => ({
  tarball: sound.tarball.filter(({ path }) => !path.startsWith(start)),
});

it('a release is sound as it should be, also with the headings of Keep a Changelog', () => {
  expect(releaseProblems(sound)).toEqual([]);
  const bracketed = changelog.replace('0.2.0', '[0.2.0]').replace('Unreleased', '[Unreleased]');
  expect(releaseProblems({ ...sound, changelog: bracketed })).toEqual([]);
  expect(reasonsNotToPublish(sound)).toEqual([]);
});

const log = 'CHANGELOG.md';
it.each<[string, Partial<Release>]>([
  ['package-lock.json has version 0.1.0', { lockedVersion: '0.1.0' }],
  ['v0.2.0 is the tag of another commit', { tags: ['v0.2.0'] }],
  [`${log} has 2 entries below "Unreleased"`, withLog('eased\n', 'eased\n\n- A.\n- B.\n')],
  [`${log} has no section of this version: "## 0.2.0 - 2026-11-21"`, withLog('0.2.0', '0.2.0-a')],
  [`${log} says nothing below 0.2.0`, withLog('- It.', '')],
  [`${log} has no date behind 0.2.0`, withLog(' - 2026-11-21', ' (soon)')],
  [`${log} says that 0.2.0 is of 2026-11-23, which is in the future`, withLog('11-21', '11-23')],
  [
    `${event} breaks the released contract: `,
    withContract(schema.replace('"format": "date-time"', '"format": "date"'), schema),
  ],
  [
    `docs/events/released has ${event} as it was: cp `,
    withContract(schema.replace('Version of CloudEvents.', 'The version.'), schema),
  ],
  [`docs/events/released lacks ${event}: cp `, withContract(schema)],
  ['docs/command-line.md is stale', { stale: ['docs/command-line.md'] }],
  ['README.md differs from the commit', { uncommitted: ['README.md'] }],
  ['the tarball lacks dist/consumer/index.js', without('dist/consumer/index.js')],
  ['the tarball lacks docs/events/*', without('docs/events')],
  ['the tarball has dist/lambda/poll.ts', withFile('dist/lambda/poll.ts')],
  ['the tarball has .local', withFile('.local/instance.json')],
  ['bytes unpacked, more than', withFile('dist/ops/run.js', 20e6)],
])('a release is stopped: %s', (problem, change) => {
  expect(releaseProblems({ ...sound, ...change })).toEqual([expect.stringContaining(problem)]);
});

it('publishing is for everybody, with proof of where it was built, once it is wanted', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(manifest.scripts.prepack).toBe('npm run --silent build');
  expect(reasonsNotToPublish({ ...sound, manifest })).toEqual([
    expect.stringMatching(/^`private` is true/),
    expect.stringMatching(/^`repository` is missing/),
  ]);
  const restricted = { ...sound.manifest, publishConfig: { access: 'restricted' } };
  expect(reasonsNotToPublish({ ...sound, manifest: restricted })).toHaveLength(1);
});
