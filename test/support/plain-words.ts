import { sentencesOf } from './markdown.ts';

/** A word that the glossary has another for, or a clause without a noun. */
interface WordOut {
  readonly word: string;
  readonly pattern: RegExp;
  readonly instead: string;
}

const out: readonly WordOut[] = [
  { word: 'operator', pattern: /\boperators?\b/i, instead: 'the partner, or ops' },
  { word: 'platform', pattern: /\bplatforms?\b/i, instead: 'the partner' },
  {
    word: 'stretch, slice, span',
    pattern: /(?<!\.)\b(stretch(es)?|slices?|spans?)\b/i,
    instead: 'range',
  },
  {
    word: 'standing, hindrance',
    pattern: /\b(standings?|hindrances?)\b/i,
    instead: 'condition',
  },
  {
    word: 'whoever, whatever, whichever',
    pattern: /\b(who|what|which)ever\b/i,
    instead: 'the noun',
  },
  { word: 'that which', pattern: /\bthat which\b/i, instead: 'the noun' },
  { word: 'what, outside of a question', pattern: /\bwhat\b[^?]*$/i, instead: 'the noun' },
  {
    word: 'come by, bear, steer',
    pattern: /\b(come by|bears?|steers?|steering)\b/i,
    instead: 'the verb that says it',
  },
];

/** The sentences of a text that are not in plain words, each after the word that is out. */
export function notPlain(text: string): string[] {
  return sentencesOf(text).flatMap((sentence) =>
    out
      .filter(({ pattern }) => pattern.test(sentence))
      .map(({ word, instead }) => `${word} (instead: ${instead}): ${sentence}`),
  );
}
