import { describe, expect, it } from 'vitest';
import { textsOf } from './texts.ts';

describe('of a source', () => {
  it('comments are read as prose, and lines that follow each other as one', () => {
    const { comments } = textsOf(
      'a.ts',
      `
        // One thing,
        // and another.
        const one = 1;
        /**
         * A day, as in {@link CalendarDay}.
         * @throws {RangeError} where \`one\` is 2
         */
        const two = 2; // Beside it.
        // biome-ignore lint/style/noVar: a directive
      `,
    );
    expect(comments).toEqual([
      'One thing,\nand another.',
      'A day, as in CalendarDay.\n {RangeError} where code is 2',
      'Beside it.',
    ]);
  });

  it('strings and templates are texts from four words on, and marks of comments in them are none', () => {
    const { comments, strings } = textsOf(
      'a.ts',
      "const texts = ['three words only', 'see https://a.test // for more', `" +
        '$' +
        '{1} of these are due`];',
    );
    expect(strings).toEqual(['see https://a.test // for more', '… of these are due']);
    expect(comments).toEqual([]);
  });

  it('titles are those of describe and it, also of tables', () => {
    const { titles, strings } = textsOf(
      'a.ts',
      "describe('a', () => { it('b', () => {}); it.each([1])('says %s of it all', () => {}); });",
    );
    expect(titles).toEqual(['a', 'b', 'says %s of it all']);
    expect(strings).toEqual([]);
  });

  it('that is none, nothing is read', () => {
    expect(() => textsOf('a.ts', 'const =')).toThrow(SyntaxError);
  });
});
