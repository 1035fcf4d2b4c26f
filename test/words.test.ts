import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

interface WordOut {
  /** All its forms, in small letters. */
  readonly word: RegExp;
  readonly instead: string;
  readonly because: string;
  /** Other meanings of the same letters, or attributes of stored items. */
  readonly except?: RegExp;
  /** Files in which it stays for the time being. */
  readonly exceptIn?: readonly string[];
  /** Out in all sources, not only where `held` says so: elsewhere the others have a second, ordinary meaning. */
  readonly everywhere?: true;
}

/** The glossary's words that are out. The list only grows. */
const out: readonly WordOut[] = [
  {
    word: /operators?/,
    instead: 'partner, or ops',
    because: 'the company behind the API and the people on call are two',
    except: /comparisonOperator/gi,
    everywhere: true,
  },
  {
    word: /platforms?/,
    instead: 'partner',
    because: 'the company behind the API has one name',
    except: /(process|sys)\.platform|platform: 'node'|--platform=node/g,
    everywhere: true,
  },
  {
    word: /tenants?|connections?/,
    instead: 'integration',
    because: 'one set of credentials has one name',
  },
  {
    word: /spans?/,
    instead: 'range',
    because: 'consecutive days have one name',
    except: /<\/?span\b/g,
    everywhere: true,
  },
  {
    word: /slices?/,
    instead: 'range',
    because: 'consecutive days have one name',
    except: /\.slice\(|\bsliceDays\b/g,
    everywhere: true,
  },
  {
    word: /stretch(es)?/,
    instead: 'range',
    because: 'consecutive days have one name',
    // Of stored items.
    except: /`STRETCH#|\bstretches\b/g,
    everywhere: true,
  },
  {
    word: /stores?/,
    instead: 'ledger',
    because: 'the table has one name',
    // Credentials are stored.
    exceptIn: ['lambda/condition-table.ts'],
  },
  {
    word: /messages?/,
    instead: 'event, or notice',
    because: 'SNS has messages; subscribers get events, and ops get notices',
    except: /\berror\.message\b|\bERROR_MESSAGE\b/g,
  },
  {
    word: /standings?|hindrances?/,
    instead: 'condition',
    because: 'a lasting trouble that ops are told of has one name',
    everywhere: true,
  },
  {
    word: /canar(y|ies)|drains?|doubts?|collapsed?/,
    instead: 'missing',
    because: 'the rule of two looks took their place',
    except: /border-collapse: collapse/g,
    everywhere: true,
  },
  {
    word: /surveys?|examinations?/,
    instead: 'read',
    because: 'days are read in one way',
    everywhere: true,
  },
  {
    word: /patience|bearings?|steer(s|ing)?/,
    instead: 'the noun of the thing: time limits, attempts, commands',
    because: 'a newcomer cannot place it',
    everywhere: true,
  },
];

/** Rooms without these words: folders with all their files, and files. */
const held = [
  'lambda/tick',
  'lambda/detection',
  'lambda/fan-out',
  'lambda/fan-out.ts',
  'lambda/ports',
  'lambda/assembly.ts',
  'lambda/condition-table.ts',
  'lambda/poll.ts',
  'lambda/operate.ts',
  'docs/detection.md',
  'docs/decisions/0016-days-that-are-due-are-facts.md',
];

/** All rooms with sources. */
const rooms = [
  'lambda',
  'ops',
  'console',
  'infra',
  'local',
  'consumer',
  'scripts',
  'bench',
  'examples',
  ...held.filter((place) => place.startsWith('docs/')),
];

function filesOf(place: string): string[] {
  if (!statSync(join(root, place)).isDirectory()) return [place];
  return readdirSync(join(root, place), { recursive: true, encoding: 'utf8' })
    .map((name) => join(place, name))
    .filter((path) => !/(^|\/)(node_modules|dist|target)\//.test(path))
    .filter((path) => statSync(join(root, path)).isFile());
}

/** The words of a text in small letters, including those of identifiers: `readDays` has `read` and `days`. */
function wordsOf(text: string): string {
  return text
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]/g, ' ')
    .toLowerCase();
}

function hasWord(text: string, { word, except }: Pick<WordOut, 'word' | 'except'>): boolean {
  const meant = except ? text.replaceAll(except, '') : text;
  return new RegExp(`\\b(${word.source})\\b`).test(wordsOf(meant));
}

/** Names of files, and lines, with the word. */
function placesOf(one: WordOut): string[] {
  const { exceptIn = [], everywhere } = one;
  const paths = (everywhere ? rooms : held)
    .flatMap(filesOf)
    .filter((path) => !exceptIn.includes(path));
  return paths.flatMap((path) => [
    ...(hasWord(path, one) ? [path] : []),
    ...readFileSync(join(root, path), 'utf8')
      .split('\n')
      .flatMap((line, index) => (hasWord(line, one) ? `${path}:${index + 1} ${line.trim()}` : [])),
  ]);
}

describe('words that are out', () => {
  it.each(['span', 'nextSpan', 'Spans of days', 'span_days', 'span-days', 'spans.map('])(
    'are found in all forms, as in %s',
    (text) => {
      expect(hasWord(text, { word: /spans?/ })).toBe(true);
    },
  );

  it.each(['spanned', 'lifespan', 'range'])('are not found within others, as in %s', (text) => {
    expect(hasWord(text, { word: /spans?/ })).toBe(false);
  });

  it('may mean something else, exactly', () => {
    const slices = { word: /slices?/, except: /\.slice\(/g };
    expect(hasWord('days.slice(0, 2)', slices)).toBe(false);
    expect(hasWord('slice(days)', slices)).toBe(true);
  });

  it.each(out)('$word: $instead, since $because', (one) => {
    expect(placesOf(one)).toEqual([]);
  });
});
