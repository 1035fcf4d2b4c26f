import { parseAst } from 'vitest/node';

/** The number of lines that are neither empty nor only a comment. */
export function linesOfCode(text: string): number {
  let isComment = false;
  let lines = 0;
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line.startsWith('/*')) isComment = true;
    if (line !== '' && !isComment && !line.startsWith('//')) lines += 1;
    if (isComment && line.includes('*/')) isComment = false;
  }
  return lines;
}

/** Fields that are not readonly, and `let`s that outlive the call of their function: of a module, or changed by a closure. */
export function mutableFields(text: string): string[] {
  const found: string[] = [];
  visit(parseAst(text, { lang: 'ts' }), [new Map()], (name) => found.push(name));
  return found;
}

/** The files that a source imports at run time, when types are gone. */
export function importsOf(text: string): string[] {
  const { body } = parseAst(text, { lang: 'ts' });
  return body.flatMap((node) => {
    if (node.type !== 'ImportDeclaration' || node.importKind === 'type') return [];
    const isOfTypes =
      node.specifiers.length > 0 &&
      node.specifiers.every((one) => 'importKind' in one && one.importKind === 'type');
    return isOfTypes || !node.source.value.startsWith('.') ? [] : [node.source.value];
  });
}

/** The names that a function declares with `let`, and whether they have been reported. */
type Scope = Map<string, boolean>;

const functions = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'StaticBlock',
]);

function visit(node: unknown, scopes: readonly Scope[], report: (name: string) => void): void {
  if (Array.isArray(node)) for (const one of node) visit(one, scopes, report);
  if (!isNode(node)) return;
  const inner = functions.has(node.type) ? [...scopes, new Map<string, boolean>()] : scopes;
  for (const name of changeableIn(node, inner)) report(name);
  for (const child of Object.values(node)) visit(child, inner, report);
}

/**
 * The names that a node itself shows to be mutable. It also notes the names that a function declares, and those that
 * were reported.
 */
function changeableIn(node: Node, scopes: readonly Scope[]): readonly string[] {
  const own = scopes.at(-1);
  switch (node.type) {
    case 'PropertyDefinition':
      return node['readonly'] === true ? [] : namesIn(node['key']);
    case 'VariableDeclaration': {
      const names = node['kind'] === 'let' ? declared(node['declarations']) : [];
      if (scopes.length === 1) return names;
      for (const name of names) own?.set(name, false);
      return [];
    }
    case 'AssignmentExpression':
    case 'UpdateExpression':
      return namesIn(node['left'] ?? node['argument']).filter((name) => {
        const owner = scopes.findLast((scope) => scope.has(name));
        if (owner === undefined || owner === own || owner.get(name)) return false;
        owner.set(name, true);
        return true;
      });
    default:
      return [];
  }
}

interface Node extends Record<string, unknown> {
  readonly type: string;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

const declared = (declarations: unknown): string[] =>
  Array.isArray(declarations) ? declarations.flatMap((one) => namesIn(one?.id)) : [];

/** The names in a pattern; an assignment to a property has none. */
function namesIn(pattern: unknown): string[] {
  if (!isNode(pattern) || pattern.type === 'MemberExpression') return [];
  if (pattern.type === 'Identifier' || pattern.type === 'PrivateIdentifier')
    return [String(pattern['name'])];
  const parts = [pattern['left'], pattern['argument'], pattern['elements'], pattern['properties']];
  return parts
    .flat()
    .flatMap((part) => namesIn(isNode(part) && part.type === 'Property' ? part['value'] : part));
}
