import {
  BatchGetItemCommand,
  type BatchGetItemCommandOutput,
  BatchWriteItemCommand,
  type BatchWriteItemCommandOutput,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  DynamoDBServiceException,
  GetItemCommand,
  PutItemCommand,
  type PutItemCommandInput,
  QueryCommand,
  type QueryCommandInput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { Clock } from '../clock.ts';
import { ledgerTable } from '../names.ts';
import { LedgerRefusedError, LedgerUnavailableError } from './errors.ts';

/** An item or a set of expression values, as plain values. */
export type Plain = Record<string, unknown>;

type Values = { values?: Plain };
type Put = Omit<PutItemCommandInput, 'TableName' | 'Item' | 'ExpressionAttributeValues'> & Values;
type Update = Omit<UpdateItemCommandInput, 'TableName' | 'Key' | 'ExpressionAttributeValues'> &
  Values;
type Query = Omit<
  QueryCommandInput,
  'TableName' | 'ExpressionAttributeValues' | 'ExclusiveStartKey'
> &
  Values;

const getBatchLimit = 100;
const writeBatchLimit = 25;
const firstPauseMs = 50;
const longestPauseMs = 2_000;
/** With these pauses, some ten seconds. */
const mostRounds = 10;

/**
 * The ledger's table in plain values. A write whose condition does not hold answers `false`
 * (or `undefined`); everything else that goes wrong is a `LedgerUnavailableError`.
 */
export class Table {
  readonly #client: DynamoDBClient;
  readonly #name: string;
  readonly #clock: Clock;

  constructor(client: DynamoDBClient, name: string, clock: Clock) {
    this.#client = client;
    this.#name = name;
    this.#clock = clock;
  }

  /** Strongly consistent. */
  async get(pk: string): Promise<Plain | undefined> {
    const { Item } = await this.#carryOut('GetItem', () =>
      this.#client.send(
        new GetItemCommand({ TableName: this.#name, Key: keyOf(pk), ConsistentRead: true }),
      ),
    );
    return Item && unmarshall(Item);
  }

  async put(item: Plain, { values, ...input }: Put = {}): Promise<boolean> {
    const written = await this.#conditional('PutItem', () =>
      this.#client.send(
        new PutItemCommand({
          ...input,
          TableName: this.#name,
          Item: marshall(item),
          ...expressionValues(values),
        }),
      ),
    );
    return written !== undefined;
  }

  /** The attributes that `ReturnValues` asks for (none: an empty object). */
  async update(pk: string, { values, ...input }: Update): Promise<Plain | undefined> {
    const written = await this.#conditional('UpdateItem', () =>
      this.#client.send(
        new UpdateItemCommand({
          ...input,
          TableName: this.#name,
          Key: keyOf(pk),
          ...expressionValues(values),
        }),
      ),
    );
    return written && unmarshall(written.Attributes ?? {});
  }

  /** Every item that exists of these keys, strongly consistent, in no order. */
  async getAll(pks: readonly string[]): Promise<Plain[]> {
    const found: Plain[] = [];
    for (let start = 0; start < pks.length; start += getBatchLimit) {
      const Keys = pks.slice(start, start + getBatchLimit).map(keyOf);
      await this.#untilProcessed<BatchGetItemCommandOutput['UnprocessedKeys']>(
        'BatchGetItem',
        { [this.#name]: { Keys, ConsistentRead: true } },
        async (RequestItems) => {
          const answer = await this.#client.send(new BatchGetItemCommand({ RequestItems }));
          for (const item of answer.Responses?.[this.#name] ?? []) found.push(unmarshall(item));
          return answer.UnprocessedKeys;
        },
      );
    }
    return found;
  }

  /** Writes without a condition, twenty-five items a request. */
  async putAll(items: readonly Plain[]): Promise<void> {
    for (let start = 0; start < items.length; start += writeBatchLimit) {
      const requests = items
        .slice(start, start + writeBatchLimit)
        .map((item) => ({ PutRequest: { Item: marshall(item) } }));
      await this.#untilProcessed<BatchWriteItemCommandOutput['UnprocessedItems']>(
        'BatchWriteItem',
        { [this.#name]: requests },
        async (RequestItems) =>
          (await this.#client.send(new BatchWriteItemCommand({ RequestItems }))).UnprocessedItems,
      );
    }
  }

  /** The answer's pages, as they come. */
  async *query({ values, after, ...input }: Query & { after?: Plain }): AsyncGenerator<Plain[]> {
    let ExclusiveStartKey = after && marshall(after);
    do {
      const page = await this.#carryOut('Query', () =>
        this.#client.send(
          new QueryCommand({
            ...input,
            TableName: this.#name,
            ...expressionValues(values),
            ExclusiveStartKey,
          }),
        ),
      );
      yield (page.Items ?? []).map((item) => unmarshall(item));
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey !== undefined);
  }

  /** How many items the answer has. */
  async count({ values, ...input }: Query): Promise<number> {
    let count = 0;
    let ExclusiveStartKey: QueryCommandInput['ExclusiveStartKey'];
    do {
      const page = await this.#carryOut('Query', () =>
        this.#client.send(
          new QueryCommand({
            ...input,
            TableName: this.#name,
            ...expressionValues(values),
            Select: 'COUNT',
            ExclusiveStartKey,
          }),
        ),
      );
      count += page.Count ?? 0;
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey !== undefined);
    return count;
  }

  /**
   * DynamoDB hands back what it had no capacity for, with HTTP 200: it is asked again until nothing
   * is left, or so many times that the tick had better end.
   */
  async #untilProcessed<Requests extends object | undefined>(
    operation: string,
    all: NonNullable<Requests>,
    send: (requests: NonNullable<Requests>) => Promise<Requests | undefined>,
  ): Promise<void> {
    let rest: Requests | undefined = all;
    let pauseMs = firstPauseMs;
    for (let round = 1; rest !== undefined && Object.keys(rest).length > 0; round++) {
      if (round > mostRounds) throw new LedgerUnavailableError(operation, {});
      const requests: NonNullable<Requests> = rest;
      rest = await this.#carryOut(operation, () => send(requests));
      if (rest === undefined || Object.keys(rest).length === 0) return;
      await this.#clock.sleep(pauseMs);
      pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    }
  }

  async #conditional<Answer>(
    operation: string,
    send: () => Promise<Answer>,
  ): Promise<Answer | undefined> {
    try {
      return await send();
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return undefined;
      if (error instanceof DynamoDBServiceException && error.name === 'ValidationException')
        throw new LedgerRefusedError(operation, { cause: error });
      throw new LedgerUnavailableError(operation, { cause: error });
    }
  }

  async #carryOut<Answer>(operation: string, send: () => Promise<Answer>): Promise<Answer> {
    try {
      return await send();
    } catch (error) {
      throw new LedgerUnavailableError(operation, { cause: error });
    }
  }
}

function keyOf(pk: string) {
  return marshall({ [ledgerTable.partitionKey]: pk });
}

function expressionValues(values: Plain | undefined) {
  // DynamoDB refuses an empty one.
  return values === undefined || Object.keys(values).length === 0
    ? {}
    : { ExpressionAttributeValues: marshall(values, { removeUndefinedValues: true }) };
}
