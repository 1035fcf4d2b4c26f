import type { CertificationEvent } from '../../lambda/events/event.ts';
import { messageOf } from '../../lambda/events/sns-message.ts';
import { exampleEvents } from './examples.ts';
import { componentSchemas, schemasPath } from './json-schemas.ts';

/** `@asyncapi/parser` 3.6 accepts no other version. */
const bindingVersion = '0.1.0';

/** The contract for machines as an AsyncAPI 3 document, complete in itself. */
export function asyncApi(): object {
  const events = exampleEvents();
  const schemas = componentSchemas();
  return {
    asyncapi: '3.1.0',
    id: 'urn:certification-notifier',
    info: {
      title: 'Certification events',
      version: '1',
      description:
        'Tells of certifications that appear, change, disappear or come back at the partner: within a minute, at least once, nothing missed. Deliveries repeat and, on a standard topic, overtake each other: `id` tells duplicates, `sequence` tells outdated events.',
    },
    defaultContentType: 'application/json',
    channels: {
      events: {
        address: null,
        description:
          'The events topic. Its ARN is the output `EventsTopicArn` of the stack. The body of a message is one event; the attributes beside it are for filter policies.',
        messages: Object.fromEntries(
          events.map((event) => [
            nameOf(event),
            { $ref: `#/components/messages/${nameOf(event)}` },
          ]),
        ),
        bindings: {
          sns: { name: 'events', ordering: { type: 'standard' }, bindingVersion },
        },
      },
    },
    operations: {
      announce: {
        action: 'send',
        channel: { $ref: '#/channels/events' },
        summary: 'One event for each change.',
        bindings: {
          sns: {
            topic: { name: 'events' },
            consumers: [
              {
                protocol: 'sqs',
                endpoint: { name: 'a-queue-of-yours' },
                filterPolicy: { type: ['certification.created'], late: ['false'] },
                filterPolicyScope: 'MessageAttributes',
                rawMessageDelivery: true,
              },
            ],
            bindingVersion,
          },
        },
      },
    },
    components: {
      messages: Object.fromEntries(
        events.map((event) => [
          nameOf(event),
          {
            name: event.type,
            summary: schemas[nameOf(event)]?.description,
            contentType: 'application/json',
            headers: { $ref: `${schemasPath}MessageAttributes` },
            payload: { $ref: `${schemasPath}${nameOf(event)}` },
            examples: [{ name: event.type, headers: attributesIn(event), payload: event }],
          },
        ]),
      ),
      schemas,
    },
  };
}

/** The attributes of an event's message in JSON. */
export function attributesIn(event: CertificationEvent): Record<string, string | number> {
  const attributes = Object.entries(messageOf(event).attributes);
  return Object.fromEntries(
    attributes.map(([name, { DataType, StringValue }]) => [
      name,
      DataType === 'Number' ? Number(StringValue) : StringValue,
    ]),
  );
}

/** The name of an event's schema and message: `CertificationCreated`. */
function nameOf({ type }: CertificationEvent): string {
  return type
    .split('.')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
