import { expect, it } from 'vitest';
import { namedBy, nearest } from '../../../scripts/changed/nearest.ts';

const reached = (changed: string, texts: Readonly<Record<string, string>>) =>
  nearest([changed], namedBy(new Map(Object.entries(texts))));

it('a change reaches the files that import the changed one, then their importers', () => {
  const texts = {
    'lambda/a.ts': "import { b } from './b.ts';",
    'lambda/b.ts': '',
    'test/lambda/a.test.ts': "import { a } from '../../lambda/a.ts';",
    'test/lambda/b.test.ts': "import { b } from '../../lambda/b.ts';",
    'test/lambda/c.test.ts': "import { c } from '../../lambda/c.ts';",
  };
  expect(reached('lambda/b.ts', texts)).toEqual([
    { file: 'lambda/b.ts', steps: 0 },
    { file: 'lambda/a.ts', steps: 1 },
    { file: 'test/lambda/b.test.ts', steps: 1 },
    { file: 'test/lambda/a.test.ts', steps: 2 },
  ]);
});

it.each([
  ['that starts it', 'ops/cli.ts', "new URL('../../ops/cli.ts', import.meta.url)"],
  ['that names it from the root', 'docs/page.md', "readFileSync(join(root, 'docs/page.md'))"],
])('a change reaches a test %s', (_, changed, text) => {
  const files = { [changed]: '', 'test/ops/it.test.ts': text };
  expect(reached(changed, files)).toContainEqual({ file: 'test/ops/it.test.ts', steps: 1 });
});

it('a change of a bundled file reaches the stack with the bundle', () => {
  const files = { 'lambda/poll.ts': '', 'infra/constructs/function-code.ts': '' };
  expect(reached('lambda/poll.ts', files)).toHaveLength(2);
});

it('files that import each other are reached once', () => {
  const files = { 'lambda/a.ts': "from './b.ts'", 'lambda/b.ts': "from './a.ts'" };
  expect(reached('lambda/a.ts', files)).toHaveLength(2);
});
