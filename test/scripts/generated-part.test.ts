import { describe, expect, it } from 'vitest';
import { runbookSections } from '../../scripts/conditions-page.ts';
import { withPart } from '../../scripts/generated-part.ts';

const part = { begin: '<!-- b -->', end: '<!-- e -->' };

describe('the generated part of a page', () => {
  it('is replaced, and the rest stays', () => {
    const page = `by hand\n\n${part.begin}\n\nold\n\n${part.end}\n\nby hand, too\n`;
    expect(withPart(page, part, (before) => `was ${before.trim()}`)).toBe(
      page.replace('old', 'was old'),
    );
  });

  it.each([
    ['without its begin', `x ${part.end}`],
    ['without its end', `${part.begin} x`],
    ['with its end first', `${part.end} x ${part.begin}`],
    ['with two begins', `${part.begin} ${part.begin} ${part.end}`],
    ['with two ends', `${part.begin} ${part.end} ${part.end}`],
  ])('is not found in a page %s', (_, page) => {
    expect(() => withPart(page, part, () => 'new')).toThrow('in this order');
  });
});

describe('a section of the runbook', () => {
  it('keeps its parts by hand', () => {
    const note = 'One.\n\n<!-- By hand: -->\n\nTwo.';
    expect(runbookSections(`### Held\n\n<!-- By hand: -->\n\n${note}\n\n`)).toContain(note);
  });

  it('is not dropped with its note when its condition has another name', () => {
    expect(() => runbookSections('### Gone\n\n<!-- By hand: -->\n\nA lot.\n')).toThrow('Gone');
  });
});
