import * as z from 'zod';
import { certificationEventSchema, eventSchemaId } from '../../lambda/events/event.ts';
import { messageAttributesSchema } from '../../lambda/events/sns-message.ts';

const dialect = 'https://json-schema.org/draft/2020-12/schema';

export type JsonSchema = z.core.JSONSchema.JSONSchema;

/**
 * JSON Schema 2020-12 of an event; its `$id` is the event's `dataschema`. As in the other schemas, a title is the name
 * that generators give to the type, and each object but the root is a definition with a title.
 */
export function eventJsonSchema(): JsonSchema {
  return {
    $schema: dialect,
    $id: eventSchemaId,
    title: 'CertificationEvent',
    description:
      'A CloudEvents 1.0 event, the body of an SNS message. Within this version fields and event types are only added: ignore unknown ones.',
    ...z.toJSONSchema(certificationEventSchema, published),
  };
}

/** JSON Schema 2020-12 of the message attributes that come with an event, name by name. */
export function attributesJsonSchema(): JsonSchema {
  const { $defs: { MessageAttributes } = {} } = z.toJSONSchema(messageAttributesSchema, published);
  return {
    $schema: dialect,
    $id: 'urn:certification-notifier:schema:message-attributes:1',
    ...MessageAttributes,
  };
}

/**
 * An event on a bus, in JSON Schema draft 4 for EventBridge's schema registry: EventBridge's own fields, with the event
 * as their `detail`.
 */
export function busEventJsonSchema(): JsonSchema {
  const {
    $schema: _,
    definitions,
    ...event
  } = z.toJSONSchema(certificationEventSchema, {
    ...published,
    target: 'draft-4',
  });
  const text = { type: 'string' } as const;
  return {
    $schema: 'http://json-schema.org/draft-04/schema#',
    id: 'urn:certification-notifier:schema:bus-event:1',
    title: 'BusEvent',
    description:
      'An event of EventBridge whose `detail` is a CloudEvents 1.0 event. Within this version fields and event types are only added: ignore unknown ones.',
    type: 'object',
    properties: {
      version: text,
      id: {
        ...text,
        description: "EventBridge's own: another one each time. That of the event is `detail.id`.",
      },
      'detail-type': { ...text, description: '`detail.type`.' },
      source: { ...text, description: '`detail.source`.' },
      account: text,
      time: { ...text, format: 'date-time', description: '`detail.time`, in whole seconds.' },
      region: text,
      resources: { type: 'array', items: text },
      detail: { $ref: '#/definitions/CertificationEvent' },
    },
    required: ['detail-type', 'source', 'time', 'detail'],
    definitions: {
      CertificationEvent: { title: 'CertificationEvent', ...event },
      ...z.looseObject({}).parse(definitions),
    },
  };
}

/** The same schemas for an AsyncAPI document, by name: JSON Schema draft 7. */
export function componentSchemas(): Record<string, JsonSchema> {
  const { definitions } = z.toJSONSchema(
    z.union([certificationEventSchema, messageAttributesSchema]),
    { ...published, target: 'draft-7' },
  );
  const text = JSON.stringify(definitions).replaceAll('"#/definitions/', `"${schemasPath}`);
  return JSON.parse(text);
}

export const schemasPath = '#/components/schemas/';

const published = {
  // The input of our parser, not its result: unknown fields are allowed everywhere.
  io: 'input',
  override: ({ jsonSchema }) => {
    // Zod's patterns of dates are hundreds of characters long, and mean the same as the format.
    if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  },
} as const satisfies z.core.ToJSONSchemaParams;
