import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { generatedFiles } from '../../scripts/generated-files.ts';

it.each([...generatedFiles()])("%s equals the sources' output", (path, text) => {
  expect(existsSync(path) && readFileSync(path, 'utf8')).toBe(text);
});
