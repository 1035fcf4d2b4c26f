import { stringify } from 'yaml';
import { asyncApi } from './asyncapi.ts';
import { exampleEvents } from './examples.ts';
import { attributesJsonSchema, busEventJsonSchema, eventJsonSchema } from './json-schemas.ts';

const folder = 'docs/events';

/** The contract with subscribers, as files. */
export function contractFiles(): ReadonlyMap<string, string> {
  return new Map([
    [`${folder}/certification-event-1.schema.json`, json(eventJsonSchema())],
    [`${folder}/message-attributes-1.schema.json`, json(attributesJsonSchema())],
    [`${folder}/bus-event-1.schema.json`, json(busEventJsonSchema())],
    [`${folder}/asyncapi.yaml`, yaml(asyncApi())],
    ...exampleEvents().map(
      (event) => [`${folder}/examples/${event.type}.json`, json(event)] as const,
    ),
  ]);
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function yaml(value: object): string {
  const note =
    '# Made by `npm run generate` from the schemas in lambda/events; not to be edited.\n';
  return (
    note +
    stringify(value, {
      lineWidth: 100,
      aliasDuplicateObjects: false,
      // Quotes dates, since YAML 1.1 does not read them as text.
      version: '1.1',
    })
  );
}
