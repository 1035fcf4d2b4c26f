import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { maxTemplateSize, refuseLargeTemplate } from '../../infra/template-size.ts';
import { problemsOf } from './constructs/their-app.ts';

const folder = mkdtempSync(join(tmpdir(), 'template-'));
afterAll(() => rmSync(folder, { recursive: true }));

const problemsWith = (template: string) => {
  const file = join(folder, 'a.template.json');
  writeFileSync(file, template);
  return problemsOf(() => refuseLargeTemplate(file));
};

describe('a template', () => {
  it('may be as large as CloudFormation accepts', () => {
    expect(problemsWith('x'.repeat(maxTemplateSize))).toEqual([]);
  });

  it('is refused by its bytes, not its characters, in one line that names the lists to shorten', () => {
    expect(problemsWith(`é${'x'.repeat(maxTemplateSize - 1)}`)).toEqual([
      expect.stringMatching(
        /^subscriptions: a template of 1,000,001 bytes found; allowed: one of at most 1,000,000, .*fewer or shorter names in filters, .*fewer integrations/,
      ),
    ]);
  });
});
