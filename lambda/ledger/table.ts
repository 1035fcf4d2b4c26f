import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  DynamoDBServiceException,
  GetItemCommand,
  paginateQuery,
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
  readonly sortKey: string;
}

/** The part of an index under a key that is read; absent: all of it, in its order. */
interface IndexRange {
  /** Entries in one request. */
  readonly limit?: number;
  /** A place in the index, which may be empty: the entries behind it. */
  readonly after?: Plain | undefined;
  /** The least sort key. */
  readonly from?: string;
  readonly isReversed?: boolean;
}

const getBatchLimit = 100;
const writeBatchLimit = 25;
const firstPauseMs = 50;
const longestPauseMs = 2_000;
/** With these pauses, some ten seconds. */
const mostRounds = 10;

/**
 * Asked each time that a write goes out, also when the SDK repeats it: a machine may sleep between
 * two attempts.
 *
 * @throws NotifierError if the write must not go out
 */
export type Check = () => Promise<unknown>;

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

  constructor(client: DynamoDBClient, name: string, clock: Clock) {
    this.#client = client;
    this.#name = name;
    this.clock = clock;
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
  async update(pk: string, update: Update, check?: Check): Promise<Plain | undefined> {
    const { set = {}, initial = {}, add = {}, exists = [], where } = update;
    const changes = Object.entries({ ...set, ...initial, ...add });
    if (changes.length === 0) return {};
    // Each name has a placeholder: some are reserved words of DynamoDB, and many hold a `#` or `:`.
    const places = [...changes.map(([place]) => place), ...exists];
    const names = [...new Set(places.flatMap((place) => place.split(part)))];
    const nameOf = (place: string) =>
      place
        .split(part)
        .map((one) => `#n${names.indexOf(one)}`)
        .join('.');
    const clauses = changes.map(([place, value], index) => {
      const [name, given] = [nameOf(place), `:v${index}`];
      if (place in add) return { verb: 'ADD', clause: `${name} ${given}` };
      if (place in initial)
        return { verb: 'SET', clause: `${name} = if_not_exists(${name}, ${given})` };
      if (value === undefined) return { verb: 'REMOVE', clause: name };
      return { verb: 'SET', clause: `${name} = ${given}` };
    });
    const conditions = exists.map((place) => `attribute_exists(${nameOf(place)})`);
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
    if (check) command.middlewareStack.add(checkFirst(check), withinRetries);
    const written = await this.#attempt('UpdateItem', () => this.#client.send(command));
    return written && unmarshall(written.Attributes ?? {});
  }

  /** The items of these keys that exist, strongly consistent, in the order of the keys. */
  async getAll(pks: readonly string[]): Promise<Plain[]> {
    const found = new Map<string, Plain>();
    const asked = [...new Set(pks)];
    const keys = asked.map((pk) => marshall({ [ledgerTable.partitionKey]: pk }));
    await this.#inBatches('BatchGetItem', getBatchLimit, keys, async (Keys) => {
      const RequestItems = { [this.#name]: { Keys, ConsistentRead: true } };
      const answer = await this.#client.send(new BatchGetItemCommand({ RequestItems }));
      for (const item of answer.Responses?.[this.#name] ?? []) {
        const plain: Plain = unmarshall(item);
        found.set(String(plain[ledgerTable.partitionKey]), plain);
      }
      return answer.UnprocessedKeys?.[this.#name]?.Keys;
    });
    return asked.map((pk) => found.get(pk)).filter((item) => item !== undefined);
  }

  /** Writes without a condition, twenty-five items a request. */
  async putAll(items: readonly Plain[], check?: Check): Promise<void> {
    const puts = items.map((item) => ({ PutRequest: { Item: marshall(item, asGiven) } }));
    const send = async (batch: WriteRequest[]) => {
      const RequestItems = { [this.#name]: batch };
      const command = new BatchWriteItemCommand({ RequestItems });
      if (check) command.middlewareStack.add(checkFirst(check), withinRetries);
      const answer = await this.#client.send(command);
      return answer.UnprocessedItems?.[this.#name];
    };
    await this.#inBatches('BatchWriteItem', writeBatchLimit, puts, send);
  }

  /** The entries of an index under a key, page by page. */
  async *query(index: Index, key: string, range: IndexRange = {}): AsyncGenerator<Plain[]> {
    for await (const { Items = [] } of this.#pages(index, key, range))
      yield Items.map((item) => unmarshall(item));
  }

  async count(index: Index, key: string): Promise<number> {
    let count = 0;
    for await (const { Count = 0 } of this.#pages(index, key, {}, 'COUNT')) count += Count;
    return count;
  }

  async *#pages(index: Index, key: string, range: IndexRange, Select?: 'COUNT') {
    const { limit: Limit, after, from, isReversed = false } = range;
    const least = from === undefined ? '' : ` AND ${index.sortKey} >= :from`;
    const pages = paginateQuery(
      { client: this.#client },
      {
        ...{ TableName: this.#name, IndexName: index.name, Limit, Select },
        KeyConditionExpression: `${index.partitionKey} = :key${least}`,
        ExpressionAttributeValues: marshall({ ':key': key, ':from': from }, asGiven),
        ExclusiveStartKey: after && marshall(after),
        ScanIndexForward: !isReversed,
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

const withinRetries = { step: 'finalizeRequest', priority: 'low' } as const;

const checkFirst =
  (check: Check) =>
  <Request, Answer>(send: (request: Request) => Promise<Answer>) =>
  async (request: Request): Promise<Answer> => {
    await check();
    return send(request);
  };
