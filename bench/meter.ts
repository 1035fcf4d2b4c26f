import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SNSClient } from '@aws-sdk/client-sns';
import * as z from 'zod';
import type { AwsReady } from './child.ts';

/** Requests of one contender to AWS. */
export interface Consumption {
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Requests to DynamoDB. */
  readonly calls: number;
  /** Publish and PublishBatch requests. */
  readonly publishes: number;
}

const consumed = z.object({ CapacityUnits: z.number() });
const answer = z.object({
  ConsumedCapacity: z.union([consumed.transform((one) => [one]), z.array(consumed)]),
});
const writes = /^(Put|Update|Delete|BatchWrite)ItemCommand$/;
/** For the embedded services. */
export const clientOptions = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
};

/** Clients that count: DynamoDB's consumed capacity, and the events in requests to SNS. */
export class Meter {
  readonly dynamodb: DynamoDBClient;
  readonly sns: SNSClient;
  #readUnits = 0;
  #writeUnits = 0;
  #publishes = 0;
  #calls = 0;

  constructor(aws: Pick<AwsReady, 'dynamodb' | 'messaging'>) {
    this.dynamodb = new DynamoDBClient({ ...clientOptions, endpoint: aws.dynamodb });
    this.sns = new SNSClient({ ...clientOptions, endpoint: aws.messaging });
    this.dynamodb.middlewareStack.add(
      (next, { commandName = '' }) =>
        async (args) => {
          const input = { ...args.input, ReturnConsumedCapacity: 'TOTAL' };
          const result = await next({ ...args, input });
          this.#count(commandName, result.output);
          return result;
        },
      { step: 'initialize' },
    );
    this.sns.middlewareStack.add(
      (next, { commandName = '' }) =>
        (args) => {
          if (commandName.startsWith('Publish')) this.#publishes += 1;
          return next(args);
        },
      { step: 'initialize' },
    );
  }

  /** The consumption since the last call. */
  take(): Consumption {
    const taken = {
      readUnits: this.#readUnits,
      writeUnits: this.#writeUnits,
      calls: this.#calls,
      publishes: this.#publishes,
    };
    this.#readUnits = this.#writeUnits = this.#publishes = this.#calls = 0;
    return taken;
  }

  #count(operation: string, output: unknown): void {
    this.#calls += 1;
    const units = answer
      .parse(output)
      .ConsumedCapacity.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
    if (writes.test(operation)) this.#writeUnits += units;
    else this.#readUnits += units;
  }

  close(): void {
    this.dynamodb.destroy();
    this.sns.destroy();
  }
}
