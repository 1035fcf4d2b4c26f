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

/**
 * The places that a source can change beyond one call of a function: fields that are not readonly; variables of a module, or
 * changed by a closure; and all that a function changes in place without having made it (a field, an argument, a captured value).
 */
export function mutablePlaces(text: string): string[] {
  const found = new Set<string>();
  visit(parseAst(text, { lang: 'ts' }), [newScope()], (name) => found.add(name));
  return [...found];
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

/** The names that a function declares, and those of its `let`s that no closure is known to change. */
interface Scope {
  readonly made: Set<string>;
  readonly lets: Set<string>;
}

const newScope = (): Scope => ({ made: new Set(), lets: new Set() });

const inPlace = new Set([
  'push',
  'unshift',
  'splice',
  'pop',
  'shift',
  'set',
  'add',
  'delete',
  'clear',
]);

const functions = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'StaticBlock',
]);

function visit(node: unknown, scopes: readonly Scope[], report: (name: string) => void): void {
  if (Array.isArray(node)) for (const one of node) visit(one, scopes, report);
  // A constructor has made the object that it changes.
  if (!isNode(node) || (node.type === 'MethodDefinition' && node['kind'] === 'constructor')) return;
  const inner = functions.has(node.type) ? [...scopes, newScope()] : scopes;
  for (const name of changeableIn(node, inner)) report(name);
  for (const child of Object.values(node)) visit(child, inner, report);
}

/** The names that a node itself shows to be mutable. It also notes the names that a function declares. */
function changeableIn(node: Node, scopes: readonly Scope[]): readonly string[] {
  const own = scopes.at(-1) ?? newScope();
  switch (node.type) {
    case 'PropertyDefinition':
      return node['readonly'] === true ? [] : namesIn(node['key']);
    case 'VariableDeclaration':
      return declaring(node, own, scopes.length === 1);
    case 'AssignmentExpression':
    case 'UpdateExpression':
      return assigned(node['left'] ?? node['argument'], own, scopes);
    // The result of `add` is dropped where it changes a set, and used where it makes another time.
    case 'ExpressionStatement':
      return called(node['expression'], own);
    default:
      return [];
  }
}

function declaring(node: Node, own: Scope, isModule: boolean): readonly string[] {
  const names = declared(node['declarations']);
  const isLet = node['kind'] === 'let';
  for (const name of names) (isLet ? own.lets : own.made).add(name);
  return isLet && isModule ? names : [];
}

function assigned(left: unknown, own: Scope, scopes: readonly Scope[]): readonly string[] {
  const isCaptured = (name: string) =>
    !own.lets.has(name) && scopes.some(({ lets }) => lets.has(name));
  return [...namesIn(left).filter(isCaptured), ...foreign(left, own)];
}

function called(call: unknown, own: Scope): readonly string[] {
  if (!isNode(call) || !isNode(call['callee'])) return [];
  const { callee, arguments: [object] = [] } = call;
  const [name = ''] = namesIn(callee['property']);
  if (inPlace.has(name)) return foreign(callee, own);
  return name === 'assign' ? foreign({ type: 'MemberExpression', object }, own) : [];
}

/** The place that an expression changes, if its function has not made it. */
function foreign(changed: unknown, { made, lets }: Scope): readonly string[] {
  if (!isNode(changed) || changed.type !== 'MemberExpression') return [];
  const { object } = changed;
  if (!isNode(object)) return [];
  if (object.type === 'ThisExpression') return namesIn(changed['property']);
  if (object.type === 'MemberExpression') return foreign(object, { made, lets });
  return namesIn(object).filter((name) => !made.has(name) && !lets.has(name));
}

interface Node extends Record<string, unknown> {
  readonly type: string;
  readonly arguments?: readonly unknown[];
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
