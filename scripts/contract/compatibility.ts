import { isDeepStrictEqual } from 'node:util';

/**
 * The changes in `current` that break consumers of `released`, each with its place. Empty when every event that fits the
 * one fits the other, added event types apart.
 *
 * Within a version, a field or an event type may be added, and a field that could be absent may become one that is always
 * there. Titles, descriptions and examples may be anything. Every other difference is breaking, also one that this
 * function does not know. References are followed, so definitions may be moved and renamed; none may be recursive.
 *
 * A validator would not do: the events of today still fit a schema that lacks an optional field, a format or a limit.
 */
export function breakingChanges(released: unknown, current: unknown): string[] {
  return differences(inlined(released, released), inlined(current, current), '');
}

const annotations = new Set(['title', 'description', 'examples', '$comment', '$defs']);

type Schema = Readonly<Record<string, unknown>>;

function differences(released: unknown, current: unknown, path: string): string[] {
  if (!isSchema(released) || !isSchema(current))
    return isDeepStrictEqual(released, current) ? [] : [`${path || 'schema'}: changed`];
  const keywords = new Set([...Object.keys(released), ...Object.keys(current)]);
  return [...keywords].flatMap((keyword) => {
    const before = released[keyword];
    const after = current[keyword];
    if (keyword === 'properties') return inFields(released, current, path);
    if (keyword === 'required') return inRequired(before, after, path);
    if (keyword === 'items') return differences(before, after, `${path}[]`);
    if (keyword === 'oneOf' && isTyped(before) && isTyped(after))
      return inEventTypes(before, after, path);
    return isDeepStrictEqual(before, after)
      ? []
      : [`${path || 'schema'}: ${keyword} was ${shown(before)} and is ${shown(after)}`];
  });
}

function inFields(released: Schema, current: Schema, path: string): string[] {
  const before = schemaOr(released.properties);
  const after = schemaOr(current.properties);
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
  return [
    ...Object.entries(before).flatMap(([name, schema]) =>
      Object.hasOwn(after, name)
        ? differences(schema, after[name], at(path, name))
        : [`${at(path, name)}: removed`],
    ),
    ...(isOpen(released)
      ? []
      : added.map((name) => `${at(path, name)}: added where no further field was allowed`)),
  ];
}

function inRequired(released: unknown, current: unknown, path: string): string[] {
  const after = new Set(namesIn(current));
  return namesIn(released)
    .filter((name) => !after.has(name))
    .map((name) => `${at(path, name)}: was always there and no longer is`);
}

function inEventTypes(released: readonly Schema[], current: readonly Schema[], path: string) {
  const after = new Map(current.map((schema) => [typeOf(schema), schema]));
  return released.flatMap((schema) => {
    const type = typeOf(schema);
    const same = after.get(type);
    return same === undefined
      ? [`${at(path, String(type))}: event type removed`]
      : differences(schema, same, at(path, String(type)));
  });
}

/** The schema without annotations, and with definitions in place of references. */
function inlined(schema: unknown, root: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((inner) => inlined(inner, root));
  if (!isSchema(schema)) return schema;
  const { $ref, ...rest } = schema;
  const own = Object.fromEntries(
    Object.entries(rest)
      .filter(([keyword]) => !annotations.has(keyword))
      .map(([keyword, value]) => [keyword, inlinedValue(keyword, value, root)]),
  );
  if (typeof $ref !== 'string') return own;
  const target = schemaOr(inlined(targetOf($ref, root), root));
  // Both hold: the keywords beside a reference, and its definition.
  return Object.keys(own).some((keyword) => Object.hasOwn(target, keyword))
    ? { ...own, allOf: [target] }
    : { ...own, ...target };
}

/** The values of these keywords are names with schemas, data, or schemas. */
function inlinedValue(keyword: string, value: unknown, root: unknown): unknown {
  if (keyword === 'properties' || keyword === 'patternProperties')
    return Object.fromEntries(
      Object.entries(schemaOr(value)).map(([name, schema]) => [name, inlined(schema, root)]),
    );
  return keyword === 'const' || keyword === 'enum' || keyword === 'default'
    ? value
    : inlined(value, root);
}

function targetOf(reference: string, root: unknown): unknown {
  const steps = reference.replace(/^#\/?/, '').split('/').filter(Boolean);
  return steps.reduce<unknown>((schema, step) => schemaOr(schema)[step], root);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTyped(value: unknown): value is readonly Schema[] {
  if (!Array.isArray(value)) return false;
  const types = value.map((schema) => (isSchema(schema) ? typeOf(schema) : undefined));
  return !types.includes(undefined) && new Set(types).size === types.length;
}

/** The event type that a schema describes. */
function typeOf(schema: Schema): unknown {
  return schemaOr(schemaOr(schema.properties).type).const;
}

/** Whether all fields that the schema does not name are allowed. */
function isOpen({ additionalProperties = true }: Schema): boolean {
  return additionalProperties === true || isDeepStrictEqual(additionalProperties, {});
}

const schemaOr = (value: unknown): Schema => (isSchema(value) ? value : {});
const namesIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const at = (path: string, name: unknown) => (path === '' ? String(name) : `${path}.${name}`);
const shown = (value: unknown) => (value === undefined ? 'absent' : JSON.stringify(value));
