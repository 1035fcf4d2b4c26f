import { describe, expect, it } from 'vitest';
import { breakingChanges } from '../../../scripts/contract/compatibility.ts';
import { attributesJsonSchema, eventJsonSchema } from '../../../scripts/contract/json-schemas.ts';

const text = { type: 'string' };
const released = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:example:1',
  oneOf: [{ $ref: '#/$defs/Made' }, { $ref: '#/$defs/Gone' }],
  $defs: {
    Made: {
      properties: {
        type: { type: 'string', const: 'made' },
        at: { type: 'string', format: 'date-time' },
        thing: { $ref: '#/$defs/Thing' },
      },
      required: ['type', 'at', 'thing'],
    },
    Gone: { properties: { type: { type: 'string', const: 'gone' } }, required: ['type'] },
    Thing: {
      type: 'object',
      properties: {
        id: { type: 'integer', exclusiveMinimum: 0 },
        name: text,
        nick: { type: ['string', 'null'] },
        colour: { enum: ['red', 'green'] },
        parts: { type: 'array', items: { properties: { title: text }, required: ['title'] } },
      },
      required: ['id', 'name'],
      additionalProperties: {},
    },
  },
};

const lent = { properties: { type: { const: 'lent' } }, required: ['type'] };
const thing = '$defs/Thing';
const field = `${thing}/properties`;
const open = `${thing}/additionalProperties`;
const made = '$defs/Made';

const renamed = {
  '$defs/Other': released.$defs.Thing,
  [`${made}/properties/thing/$ref`]: '#/$defs/Other',
};

/** The released schema with other values at these places; undefined removes a place. */
function changed(changes: Readonly<Record<string, unknown>>) {
  const copy = structuredClone(released);
  for (const [path, value] of Object.entries(changes)) {
    const parts = path.split('/');
    const last = parts.pop() ?? '';
    const parent = parts.reduce((inner, part) => Object(Reflect.get(inner, part)), Object(copy));
    if (value === undefined) Reflect.deleteProperty(parent, last);
    else Reflect.set(parent, last, value);
  }
  return breakingChanges(released, copy);
}

describe('within a version', () => {
  it.each<[string, Record<string, unknown>]>([
    ['nothing changes', {}],
    ['a field is added', { [`${field}/size`]: { type: 'number' } }],
    [
      'a field is added that is always there',
      { [`${made}/properties/by`]: text, [`${made}/required`]: ['by', 'thing', 'at', 'type'] },
    ],
    ['a field is added to the elements of a list', { [`${field}/parts/items/properties/x`]: text }],
    ['an optional field is always there', { [`${thing}/required`]: ['id', 'name', 'nick'] }],
    ['an event type is added', { 'oneOf/2': { $ref: '#/$defs/Lent' }, '$defs/Lent': lent }],
    ['event types are in another order', { oneOf: released.oneOf.toReversed() }],
    ['a description is another', { [`${thing}/description`]: 'Something else.' }],
    ['a title or example is another', { [`${field}/name`]: { ...text, title: '', examples: [1] } }],
    ['a field has the name of an annotation', { [`${field}/description`]: text }],
    ['a definition is renamed', { ...renamed, [thing]: undefined }],
    ['a definition is where it is used', { [`${made}/properties/thing`]: released.$defs.Thing }],
  ])('%s: allowed', (_, changes) => {
    expect(changed(changes)).toEqual([]);
  });

  it.each<[problem: string, path: string, value?: unknown]>([
    ['made.thing.nick: removed', `${field}/nick`],
    ['made.thing.parts[].title: removed', `${field}/parts/items/properties/title`],
    ['made.thing.id: type was "integer" and is "number"', `${field}/id/type`, 'number'],
    ['made.thing.name: type was "string" and is ["string"]', `${field}/name/type`, ['string']],
    ['made.thing.name: was always there and no longer is', `${thing}/required`, ['id']],
    ['made.thing.id: was always there and no longer is', `${thing}/required`],
    ['made.thing.colour: enum was ["red","green"] and is ["red"]', `${field}/colour/enum`, ['red']],
    ['gone: event type removed', '$defs/Gone/properties/type/const', 'lost'],
    ['gone: event type removed', 'oneOf', [{ $ref: '#/$defs/Made' }]],
    ['made.at: format was "date-time" and is "date"', `${made}/properties/at/format`, 'date'],
    ['made.at: format was "date-time" and is absent', `${made}/properties/at/format`],
    ['made.thing.id: exclusiveMinimum was 0 and is -1', `${field}/id/exclusiveMinimum`, -1],
    ['made.thing: additionalProperties was {} and is false', open, false],
    ['made.thing.parts[]: changed', `${field}/parts/items`],
    ['made.thing: unheardOf was absent and is true', `${thing}/unheardOf`, true],
    ['schema: $id was "urn:example:1" and is "urn:example:2"', '$id', 'urn:example:2'],
  ])('breaking: %s', (problem, path, value) => {
    expect(changed({ [path]: value })).toContain(problem);
  });

  const closed = { properties: { a: text }, additionalProperties: false };
  const named = {
    properties: { a: { $ref: '#/$defs/Name', maxLength: 5 } },
    $defs: { Name: text },
  };
  it.each([
    ['b: added where no further field was allowed', closed, { b: text }],
    ['a: maxLength was 5 and is 9', named, { a: { $ref: '#/$defs/Name', maxLength: 9 } }],
  ])('breaking: %s', (problem, before, more) => {
    const after = { ...before, properties: { ...before.properties, ...more } };
    expect(breakingChanges(before, after)).toEqual([problem]);
  });

  it.each([
    ['the event', eventJsonSchema()],
    ['the message attributes', attributesJsonSchema()],
  ])('breaking: each keyword that disappears from the schema of %s', (_, schema) => {
    for (const { parent, key, path } of keywordsOf(schema)) {
      const value = Reflect.get(parent, key);
      Reflect.deleteProperty(parent, key);
      const current = structuredClone(schema);
      Reflect.set(parent, key, value);
      expect(breakingChanges(schema, current), path).not.toEqual([]);
    }
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
    const isOwn = !isAnnotation && !saysNothing && !isElement;
    const own = isOwn ? [{ parent: schema, key, path: here }] : [];
    return key === 'const' || key === 'enum' ? own : [...own, ...keywordsOf(inner, here)];
  });
}
