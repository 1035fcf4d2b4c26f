import { describe, expect, it } from 'vitest';
import { importsOf, linesOfCode, mutableFields } from '../../scripts/measure/code.ts';

describe('the measurement of a source', () => {
  it('counts lines of code, without comments and empty lines', () => {
    const text = ['/** One.', ' * two */', '', 'const a = 1; // three', '  // four', 'f(a);'];
    expect(linesOfCode(text.join('\n'))).toBe(2);
  });

  it('counts fields that are not readonly', () => {
    const text = 'class A { readonly a = 1; #b = 2; c?: number; readonly #d = new Set<string>(); }';
    expect(mutableFields(text)).toEqual(['b', 'c']);
  });

  it('counts a let of the module', () => {
    expect(mutableFields('let a = 1; export const b = () => a;')).toEqual(['a']);
  });

  it('counts a let that a closure changes, once', () => {
    const text =
      'function f() { let a = 0; let b = 0; b += 1; return () => { a += b; [a] = [1]; }; }';
    expect(mutableFields(text)).toEqual(['a']);
  });

  it('does not confuse a let with one that it shadows', () => {
    expect(
      mutableFields('function f() { let a = 0; return () => { let a = 1; a += 1; return a; }; }'),
    ).toEqual([]);
  });

  it('follows imports that exist at run time', () => {
    const text = [
      "import type { A } from './a.ts';",
      "import { type B } from './b.ts';",
      "import { c, type C } from './c.ts';",
      "import 'd';",
      "import './e.ts';",
    ];
    expect(importsOf(text.join('\n'))).toEqual(['./c.ts', './e.ts']);
  });
});
