import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  blocksOf,
  sentenceLength,
  sentencesOf,
  wordsIn,
  writtenByHand,
} from './support/markdown.ts';
import { textsOf } from './support/texts.ts';

/** `npm run check:links` follows the links of the pages. */

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const files = (...patterns: string[]) =>
  globSync(patterns, {
    cwd: root,
    exclude: (name) => /^(node_modules|dist|target|released)$/.test(name),
  });

const rooms = 'lambda infra ops console local consumer scripts bench examples'.split(' ');
const sources = files(`{${rooms},test}/**/*.{ts,mjs}`);
const pages = files('*.md', '{docs,examples,test}/**/*.md');
const plainPages = [
  'CONTRIBUTING.md',
  'README.md',
  ...files('docs/*.md', 'docs/measured/{benchmarks,exploration}.md'),
];

/** A word that the glossary has another for. */
interface WordOut {
  /** All its forms, in small letters. */
  readonly word: RegExp;
  readonly instead: string;
  /**
   * `names`: also in identifiers and names of files, in all sources; `tick`: only in the rooms of the tick, since
   * elsewhere the word has a second meaning; `sentences`: only in pages, comments and texts.
   */
  readonly where: 'names' | 'tick' | 'sentences';
  /** Other meanings of the same letters, or attributes of stored items. */
  readonly except?: RegExp;
}

const out: readonly WordOut[] = [
  {
    word: /operators?/,
    instead: 'partner, or ops',
    where: 'names',
    except: /comparisonOperator/gi,
  },
  {
    word: /platforms?/,
    instead: 'partner',
    where: 'names',
    except: /(process|sys)\.platform|platform: 'node'|--platform=node/g,
  },
  { word: /spans?/, instead: 'range', where: 'names', except: /<\/?span\b/g },
  { word: /slices?/, instead: 'range', where: 'names', except: /\.slice\(|\bsliceDays\b/g },
  { word: /stretch(es)?/, instead: 'range', where: 'names', except: /`STRETCH#|\bstretches\b/g },
  { word: /standings?|hindrances?/, instead: 'condition', where: 'names' },
  {
    word: /canar(y|ies)|drains?|doubts?|collapsed?/,
    instead: 'missing',
    where: 'names',
    except: /border-collapse: collapse/g,
  },
  { word: /surveys?|examinations?/, instead: 'read', where: 'names' },
  { word: /patience|bearings?|steer(s|ing)?/, instead: 'the noun of the thing', where: 'names' },
  { word: /tenants?|connections?/, instead: 'integration', where: 'tick' },
  // Credentials are stored.
  {
    word: /stores?/,
    instead: 'ledger',
    where: 'tick',
    except: /credentials.*stored?|storeCredentials/gi,
  },
  {
    word: /messages?/,
    instead: 'event, or notice',
    where: 'tick',
    except: /\berror\.message\b|\bERROR_MESSAGE\b/g,
  },
  { word: /(who|what|which)ever|that which/, instead: 'the noun', where: 'sentences' },
  { word: /what(?=\b[^?]*$)/, instead: 'the noun: "what" is for questions', where: 'sentences' },
  { word: /come by|bears?/, instead: 'the verb that says it', where: 'sentences' },
];

const ofTick = files(
  'lambda/{tick,detection,ports}/**',
  'lambda/{assembly,poll,operate}.ts',
  'docs/detection.md',
).filter((path) => /\.\w+$/.test(path));
const allNamed = files(
  'notifier.config.ts',
  `{${rooms}}/**/*.{ts,tsx,mjs,js,py,java,md,json,txt,yaml}`,
);

/** `readDays` has the words `read` and `days`. */
const wordsOf = (text: string) =>
  text
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]/g, ' ')
    .toLowerCase();

function hasWord(text: string, { word, except }: WordOut, read = wordsOf): boolean {
  const meant = except ? text.replaceAll(except, '') : text;
  return new RegExp(`\\b(${word.source})\\b`).test(read(meant));
}

it.each(out.filter(({ where }) => where !== 'sentences'))('$word is out: $instead', (one) => {
  const found = (one.where === 'tick' ? ofTick : allNamed).flatMap((path) =>
    [path, ...read(path).split('\n')]
      .filter((line) => hasWord(line, one))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

/** Comments and texts that people read; of tests the titles, since their other strings are data. */
function passagesOf(path: string): string {
  const { comments, strings, titles } = textsOf(path, read(path));
  return [...comments, ...(path.startsWith('test/') ? titles : strings)].join('\n\n');
}

const notPlain = (text: string) =>
  sentencesOf(text).filter((sentence) =>
    out.some((one) => one.where !== 'tick' && hasWord(sentence, one, (text) => text.toLowerCase())),
  );

describe('in plain words', () => {
  it.each(plainPages)('is %s', (path) => {
    const prose = writtenByHand(read(path));
    expect(notPlain(prose)).toEqual([]);
    expect(sentenceLength(prose)).toBeLessThanOrEqual(20);
  });

  it.each([...rooms, 'test'])('are the sources of %s', (room) => {
    const found = sources
      .filter((path) => path.startsWith(`${room}/`))
      .flatMap((path) => {
        const length = sentenceLength(textsOf(path, read(path)).comments.join('\n\n'));
        const long = length > 20 ? [`sentences of ${length} words on average`] : [];
        return [...notPlain(passagesOf(path)), ...long].map((one) => `${path}: ${one}`);
      });
    expect(found).toEqual([]);
  });
});

/** The copy of the API's document belongs to the partner, and programs have printed the tables of measurements. */
function byHand(path: string): number {
  const page = read(path).replace(/^## The API as we read it$.*?(?=^## )/ms, '');
  const prose = writtenByHand(page);
  return wordsIn(path.includes('measured/') ? prose.replace(/^\|.*$/gm, '') : prose);
}

it('all pages together are short: words outside of code, generated parts and decisions', () => {
  const counted = ['CONTRIBUTING.md', 'README.md', ...files('docs/{*,events/*,measured/*}.md')];
  expect(counted.map(byHand).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(20_000);
  expect(byHand('README.md')).toBeLessThanOrEqual(900);
  const [, unreleased = ''] = read('CHANGELOG.md').split(/^## /m);
  expect(wordsIn(unreleased)).toBeLessThanOrEqual(1_500);
});

/** The headings of a page as GitHub's anchors. */
const anchorsOf = (page: string) =>
  read(page)
    .match(/^#{1,6} .*$/gm)
    ?.map((heading) => heading.replace(/^#+ /, '').toLowerCase())
    .map((text) => text.replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-'));

it('sources name only pages and headings that exist', () => {
  const named = files(`{${rooms},test}/**/*.{ts,tsx,mjs,yaml,txt}`, 'notifier.config.ts');
  const missing = named.flatMap((path) =>
    (read(path).match(/\bdocs\/[\w./-]+\.md(?:#[\w-]+)?/g) ?? [])
      .filter((link) => {
        const [page = '', anchor] = link.split('#');
        // A test has made up this page.
        if (page === 'docs/page.md') return false;
        if (!existsSync(join(root, page))) return true;
        return anchor !== undefined && !anchorsOf(page)?.includes(anchor);
      })
      .map((link) => `${path}: ${link}`),
  );
  expect(missing).toEqual([]);
});

it('blocks of code run programs that exist', () => {
  const scripts: object = JSON.parse(read('package.json')).scripts;
  const missing = pages.flatMap((path) =>
    blocksOf(read(path))
      .flatMap(({ code }) => code.split('\n'))
      .filter((line) => {
        const script = /\bnpm run (?:--silent )?([\w:-]+)/.exec(line)?.[1];
        const file = /^node ([\w/.-]+\.\w+)/.exec(line)?.[1];
        return (
          (script !== undefined && !Object.hasOwn(scripts, script)) ||
          (file !== undefined && !existsSync(join(root, file)))
        );
      })
      .map((line) => `${path}: ${line}`),
  );
  expect(missing).toEqual([]);
});
