import { expect, it } from 'vitest';
import { runbookSections } from '../../scripts/conditions-page.ts';
import { withPart } from '../../scripts/generated-part.ts';

const part = { begin: '<!-- b -->', end: '<!-- e -->' };

it('the generated part of a page is replaced, and the rest stays', () => {
  const page = `by hand\n\n${part.begin}\n\nold\n\n${part.end}\n\nby hand, too\n`;
  const now = page.replace('old', 'was old');
  expect(withPart(page, part, (before) => `was ${before.trim()}`)).toBe(now);
});

it.each(['x e', 'b x', 'e x b', 'b b e', 'b e e'])(
  'the generated part is not found in a page with its marks as in %s',
  (marks) => {
    const page = marks.replaceAll(/[be]/g, '<!-- $& -->');
    expect(() => withPart(page, part, () => 'new')).toThrow('in this order');
  },
);

it('the note of a runbook section is not dropped when its condition has another name', () => {
  expect(() => runbookSections('### Gone\n\n<!-- By hand: -->\n\nA lot.\n')).toThrow('Gone');
});
