import { readdirSync, readFileSync } from 'node:fs';
import { Parser } from '@asyncapi/parser';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { certificationEventSchema } from '../../../lambda/events/event.ts';
import { messageAttributesSchema } from '../../../lambda/events/sns-message.ts';
import { attributesIn } from '../../../scripts/contract/asyncapi.ts';
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

/** The validators of those who read events by the schemas of the last release. */
const released = schemas.map((schema) => validator(`released/${schema}`));

const examplesIn = (path: string) =>
  readdirSync(`${folder}/${path}`).map((name) => ({ name, example: readJson(`${path}/${name}`) }));
const examples = examplesIn('examples');
const first = examples[0]?.example;

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
      $id: certificationEventSchema.parse(first).dataschema,
    });
  });

  it('describes each field, except those with one value', () => {
    const says = ['description', '$ref', 'const'];
    const undescribed = fieldsOf(readJson(eventSchema)).filter(
      ([, schema]) => !says.some((keyword) => keyword in Object(schema)),
    );
    expect(undescribed).toEqual([]);
  });

  it('holds for each event and its attributes, also as it was last released', () => {
    const [releasedEvent, releasedAttributes] = released;
    fc.assert(
      fc.property(anyEvent, (event) => {
        expect(releasedEvent?.(JSON.parse(JSON.stringify(event)))).toEqual([]);
        expect(releasedAttributes?.(attributesIn(event))).toEqual([]);
        expect(eventProblems(JSON.parse(JSON.stringify(event)))).toEqual([]);
        expect(attributeProblems(attributesIn(event))).toEqual([]);
        expect(messageAttributesSchema.safeParse(attributesIn(event)).success).toBe(true);
      }),
    );
  });

  it('allows unknown fields at any place', () => {
    // Each object of the JSON ends with "}".
    const grown = JSON.stringify(first).replaceAll('}', ',"added_later":{"anything":[1,null]}}');
    expect(eventProblems(JSON.parse(grown))).toEqual([]);
  });

  const wrong = { type: 'certification.lost', id: 7, time: 'yesterday', sequence: '0', data: {} };
  it.each(Object.entries(wrong))('refuses an event with the %s %j', (name, value) => {
    expect(eventProblems({ ...Object(first), [name]: value })).not.toEqual([]);
  });

  it('is a valid AsyncAPI document', async () => {
    const { document, diagnostics } = await new Parser().parse(read('asyncapi.yaml'));
    expect(diagnostics.map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual([]);
    expect(document?.version()).toBe('3.1.0');
    expect(document?.allMessages().all().length).toBe(examples.length);
  });

  it.each(examplesIn('released/examples'))('still allows $name as last released', (one) => {
    expect(eventProblems(one.example)).toEqual([]);
  });

  it.each(schemas)('%s still has each released field', (schema) => {
    const names = (path: string) => fieldsOf(readJson(path)).map(([name]) => name);
    expect(names(schema)).toEqual(expect.arrayContaining(names(`released/${schema}`)));
  });
});

/** Each property that a schema describes, at any depth. */
function fieldsOf(schema: unknown): [name: string, schema: unknown][] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = 'properties' in schema ? Object.entries(Object(schema.properties)) : [];
  return [...own, ...Object.values(schema).flatMap(fieldsOf)];
}
