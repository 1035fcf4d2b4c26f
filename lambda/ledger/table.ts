import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  DynamoDBServiceException,
  GetItemCommand,
  paginateQuery,
  type QueryCommandInput,
  UpdateItemCommand,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { denialOf } from '../access-denied.ts';
import type { Clock } from '../clock.ts';
import { NotifierError } from '../errors.ts';
import { ledgerTable } from '../names.ts';
import { LedgerRefusedError, LedgerUnavailableError } from './errors.ts';

/** An item, or attributes of one, as plain values. */
export type Plain = Record<string, unknown>;

/** Stands between the name of an attribute and those of its parts. */
export const part = '\0';

/** An attribute goes by its name, a part of one by the names that lead to it. */
export interface Update {
  /** `undefined` removes an attribute. */
  readonly set?: Plain;
  /** Set only where there is nothing yet. */
  readonly initial?: Plain;
  /** Added to a number or to a set. */
  readonly add?: Plain;
  /** The condition: all of these exist, and `where` holds, in DynamoDB's language. */
  readonly exists?: readonly string[];
  readonly where?: string;
  readonly values?: Plain;
  readonly returns?: 'ALL_OLD' | 'ALL_NEW';
}

interface Index {
  readonly name: string;
  readonly partitionKey: string;
}

const getBatchLimit = 100;
const writeBatchLimit = 25;
const firstPauseMs = 50;
const longestPauseMs = 2_000;
/** With these pauses, some ten seconds. */
const mostRounds = 10;

/** @throws NotifierError if the write must not go out */
type Check = () => Promise<unknown>;

/** `undefined` is left out. */
const asGiven = { removeUndefinedValues: true };

/**
 * The ledger's table. A write whose condition does not hold answers `undefined`. Any other failure
 * is a `LedgerUnavailableError`, a `LedgerRefusedError`, or a `Denial`.
 */
export class Table {
  readonly #client: DynamoDBClient;
  readonly #name: string;
  readonly clock: Clock;
  readonly #check: Check | undefined;

  constructor(client: DynamoDBClient, name: string, clock: Clock, check?: Check) {
    this.#client = client;
    this.#name = name;
    this.clock = clock;
    this.#check = check;
  }

  /** The same table. Each time that a write goes out, also when the SDK repeats it, it checks this first. */
  checking(check: Check): Table {
    return new Table(this.#client, this.#name, this.clock, check);
  }

  /** Strongly consistent. */
  async get(pk: string): Promise<Plain | undefined> {
    const Key = marshall({ [ledgerTable.partitionKey]: pk });
    const read = await this.#attempt('GetItem', () =>
      this.#client.send(new GetItemCommand({ TableName: this.#name, Key, ConsistentRead: true })),
    );
    return read?.Item && unmarshall(read.Item);
  }

  /**
   * Without a change, it makes no request.
   *
   * @returns the attributes that `returns` asks for (none: an empty object)
   */
  async update(pk: string, update: Update): Promise<Plain | undefined> {
    const { set = {}, initial = {}, add = {}, exists = [], where } = update;
    const changes = Object.entries({ ...set, ...initial, ...add });
    if (changes.length === 0) return {};
    // Each name has a placeholder: some are reserved words of DynamoDB, and many hold a `#` or `:`.
    const places = [...changes.map(([place]) => place), ...exists].map((place) =>
      place.split(part),
    );
    const names = [...new Set(places.flat())];
    const placed = places.map((parts) => parts.map((one) => `#n${names.indexOf(one)}`).join('.'));
    const clauses = changes.map(([place, value], index) => {
      const [name, given] = [placed[index], `:v${index}`];
      if (place in add) return { verb: 'ADD', clause: `${name} ${given}` };
      if (place in initial)
        return { verb: 'SET', clause: `${name} = if_not_exists(${name}, ${given})` };
      if (value === undefined) return { verb: 'REMOVE', clause: name };
      return { verb: 'SET', clause: `${name} = ${given}` };
    });
    const conditions = placed.slice(changes.length).map((name) => `attribute_exists(${name})`);
    if (where !== undefined) conditions.push(`(${where})`);
    const given = changes.map(([, value], index) => [`:v${index}`, value]);
    const all: Plain = { ...update.values, ...Object.fromEntries(given) };
    const values = marshall(all, asGiven);
    const command = new UpdateItemCommand({
      TableName: this.#name,
      Key: marshall({ [ledgerTable.partitionKey]: pk }),
      UpdateExpression: [...Map.groupBy(clauses, ({ verb }) => verb)]
        .map(([verb, its]) => `${verb} ${its.map(({ clause }) => clause).join(', ')}`)
        .join(' '),
      ConditionExpression: conditions.length > 0 ? conditions.join(' AND ') : undefined,
      ExpressionAttributeNames: Object.fromEntries(names.map((one, at) => [`#n${at}`, one])),
      // DynamoDB refuses an empty one.
      ExpressionAttributeValues: Object.keys(values).length > 0 ? values : undefined,
      ReturnValues: update.returns,
    });
    command.middlewareStack.add(this.#checkFirst, { step: 'finalizeRequest', priority: 'low' });
    const written = await this.#attempt('UpdateItem', () => this.#client.send(command));
    return written && unmarshall(written.Attributes ?? {});
  }

  /** The items of these keys that exist, strongly consistent, in no order. */
  async getAll(pks: readonly string[]): Promise<Plain[]> {
    const found: Plain[] = [];
    const keys = [...new Set(pks)].map((pk) => marshall({ [ledgerTable.partitionKey]: pk }));
    await this.#inBatches('BatchGetItem', getBatchLimit, keys, async (Keys) => {
      const RequestItems = { [this.#name]: { Keys, ConsistentRead: true } };
      const answer = await this.#client.send(new BatchGetItemCommand({ RequestItems }));
      for (const item of answer.Responses?.[this.#name] ?? []) found.push(unmarshall(item));
      return answer.UnprocessedKeys?.[this.#name]?.Keys;
    });
    return found;
  }

  /** Writes without a condition, twenty-five items a request. */
  async putAll(items: readonly Plain[]): Promise<void> {
    const puts = items.map((item) => ({ PutRequest: { Item: marshall(item, asGiven) } }));
    const send = async (batch: WriteRequest[]) => {
      const RequestItems = { [this.#name]: batch };
      const command = new BatchWriteItemCommand({ RequestItems });
      command.middlewareStack.add(this.#checkFirst, { step: 'finalizeRequest', priority: 'low' });
      const answer = await this.#client.send(command);
      return answer.UnprocessedItems?.[this.#name];
    };
    await this.#inBatches('BatchWriteItem', writeBatchLimit, puts, send);
  }

  /**
   * The entries of an index under a key, in its order, page by page.
   *
   * @param after a place in the index, which may be empty
   */
  async *query(index: Index, key: string, limit?: number, after?: Plain): AsyncGenerator<Plain[]> {
    const start = { Limit: limit, ExclusiveStartKey: after && marshall(after) };
    const pages = this.#pages(index, key, start);
    for await (const { Items = [] } of pages) yield Items.map((item) => unmarshall(item));
  }

  /** The same in reverse order. */
  async *newest(index: Index, key: string, limit: number): AsyncGenerator<Plain[]> {
    const pages = this.#pages(index, key, { Limit: limit, ScanIndexForward: false });
    for await (const { Items = [] } of pages) yield Items.map((item) => unmarshall(item));
  }

  async count(index: Index, key: string): Promise<number> {
    let count = 0;
    for await (const { Count = 0 } of this.#pages(index, key, { Select: 'COUNT' })) count += Count;
    return count;
  }

  async *#pages(index: Index, key: string, input: Partial<QueryCommandInput>) {
    const pages = paginateQuery(
      { client: this.#client },
      {
        ...input,
        TableName: this.#name,
        IndexName: index.name,
        KeyConditionExpression: '#key = :key',
        ExpressionAttributeNames: { '#key': index.partitionKey },
        ExpressionAttributeValues: marshall({ ':key': key }),
      },
    );
    for (;;) {
      const page = await this.#attempt('Query', () => pages.next());
      if (page === undefined || page.done) return;
      yield page.value;
    }
  }

  /**
   * DynamoDB gives back requests that it had no capacity for, with HTTP 200. They are sent again
   * until none is left, or until this takes so long that the tick had better end.
   */
  async #inBatches<One>(
    operation: string,
    limit: number,
    all: readonly One[],
    send: (batch: One[]) => Promise<One[] | undefined>,
  ): Promise<void> {
    for (let start = 0; start < all.length; start += limit) {
      let rest = all.slice(start, start + limit);
      for (let round = 0; rest.length > 0; round++) {
        if (round === mostRounds) throw new LedgerUnavailableError(operation, {});
        const pauseMs = Math.min(firstPauseMs * 2 ** (round - 1), longestPauseMs);
        if (round > 0) await this.clock.sleep(pauseMs);
        const batch = rest;
        rest = (await this.#attempt(operation, () => send(batch))) ?? [];
      }
    }
  }

  /** Within the SDK's retries, since a machine may sleep between two of them. */
  readonly #checkFirst =
    <Request, Answer>(send: (request: Request) => Promise<Answer>) =>
    async (request: Request): Promise<Answer> => {
      await this.#check?.();
      return send(request);
    };

  async #attempt<Answer>(
    operation: string,
    send: () => Promise<Answer>,
  ): Promise<Answer | undefined> {
    try {
      return await send();
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return undefined;
      if (error instanceof NotifierError) throw error;
      const isInvalid =
        error instanceof DynamoDBServiceException && error.name === 'ValidationException';
      // A write can be too large for an item. A read or a batch is never one item's fault.
      if (isInvalid && operation === 'UpdateItem')
        throw new LedgerRefusedError(operation, { cause: error });
      const asked = { action: `dynamodb:${operation}`, resource: `the table ${this.#name}` };
      throw denialOf(error, asked) ?? new LedgerUnavailableError(operation, { cause: error });
    }
  }
}
