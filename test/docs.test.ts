import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  anchorsOf,
  blocksOf,
  linksOf,
  sentenceLength,
  wordsIn,
  writtenByHand,
} from './support/markdown.ts';
import { notPlain } from './support/plain-words.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

function filesIn(folder: string, named: RegExp): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => !/(^|\/)(node_modules|dist|released)\//.test(name) && named.test(name))
    .map((name) => join(folder, name));
}

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...filesIn('docs', /\.md$/),
  ...filesIn('examples', /\.md$/),
  ...filesIn('test', /\.md$/),
];

const rooms = [
  'lambda',
  'infra',
  'ops',
  'console',
  'local',
  'consumer',
  'scripts',
  'test',
  'bench',
];
const sources = [...rooms, 'examples'].flatMap((room) => filesIn(room, /\.(ts|tsx|mjs|yaml|txt)$/));

/** Whether a link has no target. */
function broken(path: string, link: string): boolean {
  if (/^[a-z]+:/.test(link)) return false;
  const [to = '', anchor] = link.split('#');
  const target = to === '' ? path : relative(root, join(root, dirname(path), to));
  if (!existsSync(join(root, target))) return true;
  return anchor !== undefined && target.endsWith('.md') && !anchorsOf(read(target)).has(anchor);
}

describe('links lead somewhere', () => {
  it.each(pages)('in %s', (path) => {
    expect(linksOf(read(path)).filter((link) => broken(path, link))).toEqual([]);
  });

  it('in texts and comments of the sources, and in the changelog', () => {
    const named = /\bdocs\/[\w./-]+\.md(?:#[\w-]+)?/g;
    const leading = [...sources, 'CHANGELOG.md', 'notifier.config.ts'].flatMap((path) =>
      [...new Set(read(path).match(named))]
        // A test has made up this page.
        .filter((link) => link !== 'docs/page.md' && broken('README.md', link))
        .map((link) => `${path}: ${link}`),
    );
    expect(leading).toEqual([]);
  });
});

/** Pages in plain words; the list only grows. */
const plain: readonly string[] = [
  'CONTRIBUTING.md',
  'README.md',
  'docs/command-line.md',
  'docs/configuration.md',
  'docs/detection.md',
  'docs/measured.md',
  'docs/measured/benchmarks.md',
  'docs/measured/exploration.md',
  'docs/operations.md',
  'docs/partner.md',
  'docs/subscribing.md',
];

const generatedPage = 'docs/command-line.md';

describe.each(plain)('%s is in plain words', (path) => {
  const prose = writtenByHand(read(path));

  it('has sentences of 20 words at most, on average', () => {
    expect(sentenceLength(prose)).toBeLessThanOrEqual(20);
  });

  it('has no word that is out, and no clause without a noun', () => {
    expect(notPlain(prose)).toEqual([]);
  });
});

/** Words by hand, without code. */
const wordsOf = (path: string) => wordsIn(writtenByHand(read(path)));

it('the pages by hand have 15,000 words at most', () => {
  // Below docs/measured, programs have printed most of the text.
  const byHand = plain.filter((path) => dirname(path) === 'docs' && path !== generatedPage);
  const words = byHand.map(wordsOf);
  expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(15_000);
});

it('the page of the command line, which is generated, begins with 1,000 words at most', () => {
  expect(wordsOf(generatedPage)).toBeLessThanOrEqual(1_000);
});

it('README has 900 words at most', () => {
  expect(wordsOf('README.md')).toBeLessThanOrEqual(900);
});

describe('code blocks', () => {
  const { scripts } = JSON.parse(read('package.json'));
  it.each(pages)('of %s run programs that exist', (path) => {
    const lines = blocksOf(read(path)).flatMap(({ code }) => code.split('\n'));
    const scriptsRun = lines.flatMap(
      (line) => line.match(/\bnpm run (?:--silent )?([\w:-]+)/)?.[1] ?? [],
    );
    const files = lines.flatMap((line) => line.match(/^node ([\w/.-]+\.\w+)/)?.[1] ?? []);
    expect(scriptsRun.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});
