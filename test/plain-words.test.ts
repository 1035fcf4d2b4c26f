import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { sentenceLength } from './support/markdown.ts';
import { notPlain } from './support/plain-words.ts';
import { textsOf } from './support/texts.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Rooms whose sources are in plain words: folders with all that is in them, and files. The list only grows. */
const plain: readonly string[] = [
  'bench',
  'console',
  'consumer',
  'examples',
  'infra',
  'lambda',
  'local',
  'ops',
  'scripts',
  'test',
];

function sourcesOf(place: string): string[] {
  if (statSync(join(root, place)).isFile()) return [place];
  return readdirSync(join(root, place), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|tsx|mjs)$/.test(name) && !/(^|\/)(node_modules|dist)\//.test(name))
    .map((name) => join(place, name));
}

const isTest = (path: string) => path.startsWith('test/');

/** Comments, and the texts that people read: of tests only the titles, since their other strings are data. */
function passagesOf(path: string): string[] {
  const { comments, strings, titles } = textsOf(path, readFileSync(join(root, path), 'utf8'));
  return [...comments, ...(isTest(path) ? titles : strings)];
}

describe.each(plain)('sources of %s', (place) => {
  it('have no word that is out, and no clause without a noun', () => {
    const found = sourcesOf(place).flatMap((path) =>
      passagesOf(path)
        .flatMap(notPlain)
        .map((one) => `${path}: ${one}`),
    );
    expect(found).toEqual([]);
  });

  it('have comments with sentences of 20 words at most, on average', () => {
    const long = sourcesOf(place).flatMap((path) => {
      const { comments } = textsOf(path, readFileSync(join(root, path), 'utf8'));
      const length = sentenceLength(comments.join('\n\n'));
      return length > 20 ? [`${path}: ${length.toFixed(1)}`] : [];
    });
    expect(long).toEqual([]);
  });
});
