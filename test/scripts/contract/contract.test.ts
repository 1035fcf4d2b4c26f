import { readdirSync, readFileSync } from 'node:fs';
import { Parser } from '@asyncapi/parser';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { certificationEventSchema } from '../../../lambda/events/event.ts';
import { messageAttributesSchema } from '../../../lambda/events/sns-message.ts';
import { attributesIn } from '../../../scripts/contract/asyncapi.ts';
import { breakingChanges } from '../../../scripts/contract/compatibility.ts';
import { anyEvent } from '../../consumer/events.ts';

const folder = 'docs/events';
const read = (path: string): string => readFileSync(`${folder}/${path}`, 'utf8');
const readJson = (path: string): unknown => JSON.parse(read(path));
const schemas = ['certification-event-1.schema.json', 'message-attributes-1.schema.json'] as const;
const [eventSchema, attributesSchema] = schemas;

function validator(path: string) {
  const ajv = new Ajv2020({ allErrors: true });
  ajvFormats.default(ajv);
  const validate = ajv.compile(Object(readJson(path)));
  return (value: unknown) => (validate(value) ? [] : (validate.errors ?? []));
}
const eventProblems = validator(eventSchema);
const attributeProblems = validator(attributesSchema);

const examples = readdirSync(`${folder}/examples`).map((name) => ({
  name,
  example: readJson(`examples/${name}`),
}));

describe('the published contract', () => {
  it.each(examples)('$name fits the JSON Schema', ({ example }) => {
    expect(eventProblems(example)).toEqual([]);
  });

  it('has an example of each type, and no two of one', () => {
    const types = certificationEventSchema.def.options.flatMap(
      ({ shape }) => shape.type.def.values,
    );
    expect(examples.map(({ name }) => name)).toEqual(types.map((type) => `${type}.json`).sort());
  });

  it('has the schema under the address that each event names', () => {
    expect(readJson(eventSchema)).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: certificationEventSchema.parse(examples[0]?.example).dataschema,
    });
  });

  it('describes each field, except those with one value', () => {
    const undescribed = fieldsOf(readJson(eventSchema)).filter(
      ({ schema }) => !('description' in schema || '$ref' in schema || 'const' in schema),
    );
    expect(undescribed).toEqual([]);
  });

  it('holds for each event and its attributes', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        expect(eventProblems(JSON.parse(JSON.stringify(event)))).toEqual([]);
        expect(attributeProblems(attributesIn(event))).toEqual([]);
        expect(messageAttributesSchema.safeParse(attributesIn(event)).success).toBe(true);
      }),
    );
  });

  it('allows unknown fields at any place', () => {
    const [{ example } = { example: undefined }] = examples;
    expect(eventProblems(withUnknownFields(example))).toEqual([]);
  });

  it.each([
    ['another type', { type: 'certification.lost' }],
    ['an id that is no text', { id: 7 }],
    ['an invalid time', { time: 'yesterday' }],
    ['a sequence from zero', { sequence: '0' }],
    ['no data', { data: {} }],
  ])('refuses %s', (_, wrong) => {
    const [{ example } = { example: undefined }] = examples;
    expect(eventProblems({ ...Object(example), ...wrong })).not.toEqual([]);
  });

  it('is a valid AsyncAPI document', async () => {
    const { document, diagnostics } = await new Parser().parse(read('asyncapi.yaml'));
    expect(diagnostics.map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual([]);
    expect(document?.version()).toBe('3.1.0');
    expect(document?.allMessages().all().length).toBe(examples.length);
  });

  it.each(schemas)('%s breaks no released version', (schema) => {
    expect(breakingChanges(readJson(`released/${schema}`), readJson(schema))).toEqual([]);
  });
});

/** Each property that a schema describes, at any depth. */
function fieldsOf(schema: unknown): { name: string; schema: object }[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = 'properties' in schema ? Object.entries(Object(schema.properties)) : [];
  return [
    ...own.map(([name, inner]) => ({ name, schema: Object(inner) })),
    ...Object.values(schema).flatMap(fieldsOf),
  ];
}

function withUnknownFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUnknownFields);
  if (typeof value !== 'object' || value === null) return value;
  const known = Object.entries(value).map(([name, inner]) => [name, withUnknownFields(inner)]);
  return { ...Object.fromEntries(known), added_later: { anything: [1, null] } };
}
