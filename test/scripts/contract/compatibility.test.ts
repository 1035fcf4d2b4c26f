import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { breakingChanges } from '../../../scripts/contract/compatibility.ts';
import { attributesJsonSchema, eventJsonSchema } from '../../../scripts/contract/json-schemas.ts';

type Schema = Record<string, unknown>;

const text = { type: 'string' };
const released = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:example:1',
  oneOf: [{ $ref: '#/$defs/Made' }, { $ref: '#/$defs/Gone' }],
  $defs: {
    Made: {
      type: 'object',
      properties: {
        type: { type: 'string', const: 'made' },
        at: { type: 'string', format: 'date-time' },
        thing: { $ref: '#/$defs/Thing' },
      },
      required: ['type', 'at', 'thing'],
    },
    Gone: {
      type: 'object',
      properties: { type: { type: 'string', const: 'gone' } },
      required: ['type'],
    },
    Thing: {
      type: 'object',
      properties: {
        id: { type: 'integer', exclusiveMinimum: 0 },
        name: text,
        nick: { type: ['string', 'null'] },
        colour: { enum: ['red', 'green'] },
        parts: {
          type: 'array',
          items: { type: 'object', properties: { title: text }, required: ['title'] },
        },
      },
      required: ['id', 'name'],
      additionalProperties: {},
    },
  },
};

/** The released schema, changed by hand. */
function changed(edit: (schema: typeof released & Schema) => void) {
  const copy = structuredClone(released);
  edit(copy);
  return breakingChanges(released, copy);
}
const set = (target: object, key: string, value: unknown) => Reflect.set(target, key, value);
const unset = (target: object, key: string) => Reflect.deleteProperty(target, key);

describe('within a version', () => {
  it.each<[string, Parameters<typeof changed>[0]]>([
    ['nothing changes', () => {}],
    ['a field is added', ({ $defs }) => set($defs.Thing.properties, 'size', { type: 'number' })],
    [
      'a field is added that is always there',
      ({ $defs }) => {
        set($defs.Made.properties, 'by', text);
        $defs.Made.required.push('by');
      },
    ],
    [
      'a field is added to the elements of a list',
      ({ $defs }) => set($defs.Thing.properties.parts.items.properties, 'size', text),
    ],
    ['an optional field is always there', ({ $defs }) => $defs.Thing.required.push('nick')],
    ['fields are in another order', ({ $defs }) => $defs.Made.required.reverse()],
    [
      'an event type is added',
      (schema) => {
        set(schema.$defs, 'Lent', { properties: { type: { const: 'lent' } }, required: ['type'] });
        schema.oneOf.push({ $ref: '#/$defs/Lent' });
      },
    ],
    ['event types are in another order', ({ oneOf }) => oneOf.reverse()],
    [
      'a description, a title or an example is another',
      ({ $defs }) => {
        set($defs.Thing, 'description', 'Something else.');
        set($defs.Thing.properties.name, 'title', 'Name');
        set($defs.Thing.properties.name, 'examples', ['Knot']);
      },
    ],
    [
      'a field is added whose name is that of an annotation',
      ({ $defs }) => set($defs.Thing.properties, 'description', text),
    ],
    [
      'a definition is renamed',
      ({ $defs }) => {
        set($defs, 'Object', $defs.Thing);
        unset($defs, 'Thing');
        set($defs.Made.properties, 'thing', { $ref: '#/$defs/Object' });
      },
    ],
    [
      'a definition is written where it is used',
      ({ $defs }) => set($defs.Made.properties, 'thing', $defs.Thing),
    ],
  ])('%s: allowed', (_, edit) => {
    expect(changed(edit)).toEqual([]);
  });

  it.each<[string, string, Parameters<typeof changed>[0]]>([
    [
      'a field is removed',
      'made.thing.nick: removed',
      ({ $defs }) => unset($defs.Thing.properties, 'nick'),
    ],
    [
      'a field is removed from the elements of a list',
      'made.thing.parts[].title: removed',
      ({ $defs }) => unset($defs.Thing.properties.parts.items.properties, 'title'),
    ],
    [
      'a field is renamed',
      'made.thing.name: removed',
      ({ $defs }) => {
        set($defs.Thing.properties, 'full_name', $defs.Thing.properties.name);
        unset($defs.Thing.properties, 'name');
      },
    ],
    [
      'a field has another type',
      'made.thing.id: type was "integer" and is "string"',
      ({ $defs }) => set($defs.Thing.properties.id, 'type', 'string'),
    ],
    [
      'a whole number may have a fraction',
      'made.thing.id: type was "integer" and is "number"',
      ({ $defs }) => set($defs.Thing.properties.id, 'type', 'number'),
    ],
    [
      'a field may be null',
      'made.thing.name: type was "string" and is ["string","null"]',
      ({ $defs }) => set($defs.Thing.properties.name, 'type', ['string', 'null']),
    ],
    [
      'a field may be absent that was always there',
      'made.thing.name: was always there and no longer is',
      ({ $defs }) => $defs.Thing.required.pop(),
    ],
    [
      'nothing need be there any more',
      'made.thing.id: was always there and no longer is',
      ({ $defs }) => unset($defs.Thing, 'required'),
    ],
    [
      'a value is added to a closed list of values',
      'made.thing.colour: enum was ["red","green"] and is ["red","green","blue"]',
      ({ $defs }) => $defs.Thing.properties.colour.enum.push('blue'),
    ],
    [
      'a value is removed from a closed list of values',
      'made.thing.colour: enum was ["red","green"] and is ["red"]',
      ({ $defs }) => $defs.Thing.properties.colour.enum.pop(),
    ],
    [
      'a constant is another',
      'gone: event type removed',
      ({ $defs }) => set($defs.Gone.properties.type, 'const', 'lost'),
    ],
    [
      'a format is another',
      'made.at: format was "date-time" and is "date"',
      ({ $defs }) => set($defs.Made.properties.at, 'format', 'date'),
    ],
    [
      'a format is no longer promised',
      'made.at: format was "date-time" and is absent',
      ({ $defs }) => unset($defs.Made.properties.at, 'format'),
    ],
    [
      'a bound is another',
      'made.thing.id: exclusiveMinimum was 0 and is -1',
      ({ $defs }) => set($defs.Thing.properties.id, 'exclusiveMinimum', -1),
    ],
    [
      'unknown fields are closed out',
      'made.thing: additionalProperties was {} and is false',
      ({ $defs }) => set($defs.Thing, 'additionalProperties', false),
    ],
    ['an event type is removed', 'gone: event type removed', ({ oneOf }) => oneOf.pop()],
    [
      'a list becomes something of which nothing is said',
      'made.thing.parts[]: changed',
      ({ $defs }) => unset($defs.Thing.properties.parts, 'items'),
    ],
    [
      'a keyword appears that this comparison has never heard of',
      'made.thing: unheardOf was absent and is true',
      ({ $defs }) => set($defs.Thing, 'unheardOf', true),
    ],
    [
      'the schema has another address',
      'schema: $id was "urn:example:1" and is "urn:example:2"',
      (schema) => set(schema, '$id', 'urn:example:2'),
    ],
  ])('%s: breaking', (_, problem, edit) => {
    expect(changed(edit)).toContain(problem);
  });

  it('an added field is breaking where no further field was allowed', () => {
    const closed = { properties: { a: text }, additionalProperties: false };
    const wider = { properties: { a: text, b: text }, additionalProperties: false };
    expect(breakingChanges(closed, wider)).toEqual(['b: added where no further field was allowed']);
  });

  it('keywords beside a reference count', () => {
    const $defs = { Name: text };
    const before = { properties: { a: { $ref: '#/$defs/Name', maxLength: 5 } }, $defs };
    const after = { properties: { a: { $ref: '#/$defs/Name', maxLength: 9 } }, $defs };
    expect(breakingChanges(before, after)).toEqual(['a: maxLength was 5 and is 9']);
  });
});

describe('the comparison of schemas', () => {
  it.each([
    ['the event', eventJsonSchema()],
    ['the message attributes', attributesJsonSchema()],
  ])('finds each keyword that disappears from the schema of %s', (_, schema) => {
    for (const { parent, key, path } of keywordsOf(schema)) {
      const value = Reflect.get(parent, key);
      Reflect.deleteProperty(parent, key);
      const current = structuredClone(schema);
      Reflect.set(parent, key, value);
      expect(breakingChanges(schema, current), path).not.toEqual([]);
    }
  });

  it('calls changes compatible only if consumers of the released schema can read them', () => {
    fc.assert(
      fc.property(
        twoSchemas,
        fc.array(value, { minLength: 10, maxLength: 40 }),
        ([before, after], values) => {
          if (breakingChanges(before, after).length > 0) return;
          const [fitsBefore, fitsAfter] = [ajv.compile(before), ajv.compile(after)];
          for (const candidate of values)
            if (fitsAfter(candidate)) expect(fitsBefore(candidate)).toBe(true);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

/** Each place of a schema with a constraint, annotations apart. */
function keywordsOf(schema: unknown, path = ''): { parent: object; key: string; path: string }[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, inner]) => {
    const here = `${path}/${key}`;
    const holdsNames = /\/(properties|\$defs)$/.test(path);
    const isAnnotation = !holdsNames && ['title', 'description', '$defs'].includes(key);
    // Unknown fields are allowed also without this keyword.
    const saysNothing = key === 'additionalProperties';
    const isElement = Array.isArray(schema) && !path.endsWith('/oneOf');
    const own =
      isAnnotation || saysNothing || isElement ? [] : [{ parent: schema, key, path: here }];
    return key === 'const' || key === 'enum' ? own : [...own, ...keywordsOf(inner, here)];
  });
}

const ajv = new Ajv2020({ strict: false, logger: false, validateSchema: false });

const names = ['a', 'b', 'c'] as const;
const leaf = fc.oneof(
  fc.constantFrom({ type: 'string' }, { type: ['string', 'null'] }, { type: 'integer' }, {}),
  fc.record({ enum: fc.subarray(['x', 'y', null, 1], { minLength: 1 }) }),
  fc.record({ type: fc.constant('integer'), minimum: fc.integer({ min: 0, max: 2 }) }),
);
const { schema: anySchema, value } = fc.letrec<{ schema: object; value: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 2 },
    leaf,
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom(...names), tie('schema'), { maxKeys: 3 }),
        required: fc.subarray([...names]),
        additionalProperties: fc.constantFrom(true, false, {}),
      },
      { requiredKeys: ['type', 'properties'] },
    ),
  ),
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>('x', 'y', 'z', null, 0, 1, 2, 1.5, true),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom(...names, 'd'), tie('value'), { maxKeys: 4 }),
  ),
}));

/** A schema, and another one made from it by some changes at random places. */
const twoSchemas = fc
  .tuple(anySchema, fc.array(fc.tuple(fc.nat(), fc.nat(), anySchema), { maxLength: 3 }))
  .map(([before, edits]): [object, object] => {
    const after = structuredClone(before);
    for (const [where, what, other] of edits) mutate(after, where, what, structuredClone(other));
    return [before, after];
  });

function mutate(schema: object, where: number, what: number, other: object): void {
  const nodes = nodesOf(schema);
  const node = nodes[where % nodes.length] ?? schema;
  const properties = Object(Reflect.get(node, 'properties'));
  const name = names[what % names.length] ?? 'a';
  const edits = [
    () => Object.assign(node, other),
    () => set(properties, name, other),
    () => set(properties, 'd', other),
    () => unset(properties, name),
    () => set(node, 'required', [...names]),
    () => unset(node, 'required'),
    () => unset(node, Object.keys(node)[where % 3] ?? 'type'),
    () => set(node, 'additionalProperties', what % 2 === 0),
  ];
  edits[what % edits.length]?.();
}

/** A schema and those within it. */
function nodesOf(schema: unknown): object[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const fields = Object.values(Object(Reflect.get(schema, 'properties')));
  return [schema, ...[Reflect.get(schema, 'items'), ...fields].flatMap(nodesOf)];
}
