import { stripTypeScriptTypes } from 'node:module';
import { pathToFileURL } from 'node:url';
import { convert } from 'ast-v8-to-istanbul';
import { parseAst } from 'vitest/node';
import type { Functions } from './script.ts';

/** Istanbul's data on a file. */
export type FileCoverage = Pick<
  Awaited<ReturnType<typeof convert>>[string],
  'statementMap' | 's' | 'branchMap' | 'b'
>;

/** A source with its types blanked out, as Node does it, so that all other text keeps its place. */
export function asNodeRunsIt(path: string, text: string): string {
  return path.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
}

/** A source, with its statements and branches that were run. */
export class Source {
  readonly code: string;
  readonly #url: string;
  /** By their start; each has all of them, run or not. */
  readonly #statements = new Map<string, { readonly line: number; isRun: boolean }>();
  readonly #branches = new Map<string, boolean>();

  private constructor(path: string, text: string) {
    this.code = asNodeRunsIt(path, text);
    this.#url = pathToFileURL(path).href;
  }

  /** @param path absolute */
  static async of(path: string, text: string): Promise<Source> {
    const source = new Source(path, text);
    const file = await source.#converted([]);
    for (const { key, line } of statementsOf(file))
      source.#statements.set(key, { line, isRun: false });
    for (const { key } of branchesOf(file)) source.#branches.set(key, false);
    return source;
  }

  get branches() {
    const isRun = [...this.#branches.values()];
    return { covered: isRun.filter(Boolean).length, total: isRun.length };
  }

  /** The lines on which a statement begins, each with whether any of its statements was run. */
  get lines(): ReadonlyMap<number, boolean> {
    const lines = new Map<number, boolean>();
    for (const { line, isRun } of this.#statements.values())
      lines.set(line, isRun || lines.get(line) === true);
    return lines;
  }

  /** @returns the number of places that this source does not have, since they belong to another text or conversion */
  add(file: FileCoverage): number {
    let strays = 0;
    for (const { key, hits } of statementsOf(file)) {
      const statement = this.#statements.get(key);
      if (!statement) strays += 1;
      else if (hits > 0) statement.isRun = true;
    }
    for (const { key, hits } of branchesOf(file)) {
      if (!this.#branches.has(key)) strays += 1;
      else if (hits > 0) this.#branches.set(key, true);
    }
    return strays;
  }

  /** @param functions V8's counts, by places in `code` */
  async addCounts(functions: Functions): Promise<number> {
    return this.add(await this.#converted(functions));
  }

  async #converted(functions: Functions): Promise<FileCoverage> {
    const ast = parseAst(this.code);
    const imported = new Set(
      ast.body
        .flatMap((node) => (node.type === 'ImportDeclaration' ? node.specifiers : []))
        .filter(({ type }) => type !== 'ImportNamespaceSpecifier')
        .map(({ local }) => local.name),
    );
    const [file] = Object.values(
      await convert({
        code: this.code,
        ast,
        coverage: { url: this.#url, functions: [...functions] },
        // `const { name } = imported.table`: Vitest takes it for an import of its own and leaves it out.
        ignoreNode: (node, type) =>
          type === 'statement' &&
          node.type === 'VariableDeclarator' &&
          node.init?.type === 'MemberExpression' &&
          node.init.object.type === 'Identifier' &&
          imported.has(node.init.object.name),
      }),
    );
    if (!file) throw new Error(`${this.#url} has no coverage`);
    return file;
  }
}

// The end of a statement differs between conversions.

function statementsOf({ statementMap, s }: FileCoverage) {
  return Object.entries(statementMap).map(([id, { start }]) => ({
    key: `${start.line}:${start.column}`,
    line: start.line,
    hits: s[id] ?? 0,
  }));
}

function branchesOf({ branchMap, b }: FileCoverage) {
  return Object.entries(branchMap).flatMap(
    ([
      id,
      {
        type,
        loc: { start },
        locations,
      },
    ]) =>
      locations.map((_, arm) => ({
        key: `${start.line}:${start.column} ${type} ${arm}`,
        hits: b[id]?.[arm] ?? 0,
      })),
  );
}
