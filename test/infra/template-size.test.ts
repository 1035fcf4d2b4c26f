import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { maxTemplateSize, refuseLargeTemplate } from '../../infra/template-size.ts';
import { problemsOf } from './constructs/their-app.ts';
import { folder } from './synthesis.ts';

it('a template is refused by its bytes, not its characters, in one line that names the lists to shorten', () => {
  const file = join(folder, 'a.template.json');
  writeFileSync(file, 'x'.repeat(maxTemplateSize));
  expect(problemsOf(() => refuseLargeTemplate(file))).toEqual([]);
  writeFileSync(file, `é${'x'.repeat(maxTemplateSize - 1)}`);
  expect(problemsOf(() => refuseLargeTemplate(file))).toEqual([
    expect.stringMatching(
      /^subscriptions: a template of 1,000,001 bytes found; allowed: one of at most 1,000,000, .*fewer or shorter names in filters, .*fewer integrations/,
    ),
  ]);
});
