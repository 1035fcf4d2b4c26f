import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { generatedFiles } from '../../scripts/generated-files.ts';

const textOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);

describe('what `npm run generate` makes', () => {
  it.each([...generatedFiles().keys()])('%s is as the sources say', (path) => {
    expect(textOf(path)).toBe(generatedFiles().get(path));
  });

  it('is all that there is: no example is left of a type that is gone', () => {
    const folder = 'docs/events/examples';
    const examples = [...generatedFiles().keys()].filter((path) => path.startsWith(folder));
    expect(readdirSync(folder).map((name) => `${folder}/${name}`)).toEqual(examples.toSorted());
  });
});
