import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { generatedFiles } from '../../scripts/generated-files.ts';

const textOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);

describe('the output of `npm run generate`', () => {
  it.each([...generatedFiles().keys()])("%s equals the sources' output", (path) => {
    expect(textOf(path)).toBe(generatedFiles().get(path));
  });

  it('is complete: no example of a removed type is left', () => {
    const folder = 'docs/events/examples';
    const examples = [...generatedFiles().keys()].filter((path) => path.startsWith(folder));
    expect(readdirSync(folder).map((name) => `${folder}/${name}`)).toEqual(examples.toSorted());
  });
});
