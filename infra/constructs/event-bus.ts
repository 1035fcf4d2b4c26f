import { Stack } from 'aws-cdk-lib';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { Forwarder } from './forwarder.ts';
import type { Topics } from './topics.ts';

export interface EventBusProps {
  /** A bus of this account and region, since pipes reach no other. */
  readonly bus: string;
  readonly topics: Topics;
  readonly fifo: boolean;
  readonly deadLetters: sqs.IQueue;
}

/** Turns events into those of an EventBridge bus. Their `detail` is the CloudEvent. */
export class EventBus extends Forwarder {
  constructor(scope: Construct, id: string, { bus, ...props }: EventBusProps) {
    super(scope, id, {
      ...props,
      to: busInPublic(bus),
      target: Stack.of(scope).formatArn({
        service: 'events',
        resource: 'event-bus',
        resourceName: bus,
      }),
      targetParameters: {
        eventBridgeEventBusParameters: {
          source: '$.body.source',
          detailType: '$.body.type',
          time: '$.body.time',
        },
      },
      actions: ['events:PutEvents'],
      // PutEvents takes 256 KB in a request, and a single event may have as many.
      batchSize: 1,
    });
  }
}

/** The name of a bus in alarms. */
export const busInPublic = (bus: string) => `the event bus ${bus}`;
