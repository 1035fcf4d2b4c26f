/**
 * The store in DynamoDB; an entry by itself, because it needs AWS's SDK. See docs/subscribing.md.
 */
import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { NotifierError } from '../lambda/errors.ts';
import { StoreUnavailableError } from './errors.ts';
import type { Claim, HandledStore } from './store.ts';

export { StoreUnavailableError } from './errors.ts';
export type { HandledStore } from './store.ts';

export interface DynamoStoreOptions {
  readonly client: DynamoDBClient;
  /**
   * The name of the consumer, such as "payroll": letters, digits, `.`, `_` and `-`, at most 64.
   * Workers with the same name share their handled events; other consumers may have the same table.
   */
  readonly consumer: string;
  /** A table whose partition key is the text `pk`, without a sort key. It may hold other things. */
  readonly table: string;
}

/** Without a name, two subscribers with one table would take each other's events for handled. */
class ConsumerUnnamedError extends NotifierError {
  readonly code = 'consumer-unnamed';
  readonly fault = 'ops';
  readonly retryHelps = false;
  readonly whatToDo = 'Give `dynamoStore` a `consumer`: docs/subscribing.md.';

  constructor() {
    super('`consumer` must be 1 to 64 letters, digits, ".", "_" and "-".');
  }
}

/**
 * Attributes of an item, for those who look into the table. `forget_at`, in seconds since the
 * epoch, is for the table's time to live (AWS: items go within a few days of it). An item without
 * it stays.
 */
const names = {
  '#handled': 'handled',
  '#owner': 'claim_owner',
  '#until': 'claim_until',
} as const;

const handledItem = z.object({ handled: z.optional(z.object({ N: z.string() })) });

/**
 * One conditional write for a claim, one to settle it, and a read for a refused claim.
 *
 * @throws NotifierError `consumer-unnamed`
 */
export function dynamoStore({ client, table, consumer }: DynamoStoreOptions): HandledStore {
  if (!/^[\w.-]{1,64}$/.test(consumer ?? '')) throw new ConsumerUnnamedError();
  const keyOf = ({ key }: Claim) => ({ pk: { S: `HANDLED#${consumer}#${key}` } });

  const update = async (
    claim: Claim,
    rest: Pick<
      UpdateItemCommandInput,
      'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeValues'
    > & { readonly ExpressionAttributeNames: Record<string, string> },
  ): Promise<boolean> => {
    try {
      await client.send(new UpdateItemCommand({ TableName: table, Key: keyOf(claim), ...rest }));
      return true;
    } catch (cause) {
      if (cause instanceof ConditionalCheckFailedException) return false;
      throw new StoreUnavailableError({ cause });
    }
  };

  /** Strongly consistent; 0: nothing has been handled. */
  const handledUpTo = async (claim: Claim): Promise<number> => {
    try {
      const { Item = {} } = await client.send(
        new GetItemCommand({ TableName: table, Key: keyOf(claim), ConsistentRead: true }),
      );
      return Number(handledItem.parse(Item).handled?.N ?? 0);
    } catch (cause) {
      throw new StoreUnavailableError({ cause });
    }
  };

  return {
    async claim(claim) {
      const granted = await update(claim, {
        UpdateExpression: `SET #owner = :owner, #until = :until${claim.forget ? ', #forget = :forget' : ''}`,
        ConditionExpression: [
          `(attribute_not_exists(#handled) OR #handled ${claim.again ? '<=' : '<'} :position)`,
          // The owner's own claim is a retry by the SDK, whose first answer was lost.
          '(attribute_not_exists(#owner) OR #until <= :now OR #owner = :owner)',
        ].join(' AND '),
        ExpressionAttributeNames: { ...names, ...(claim.forget && { '#forget': 'forget_at' }) },
        ExpressionAttributeValues: {
          ':owner': { S: claim.owner },
          ':until': { N: String(claim.until.epochMilliseconds) },
          ':position': { N: String(claim.position) },
          ':now': { N: String(claim.now.epochMilliseconds) },
          ...(claim.forget && {
            ':forget': { N: String(Math.ceil(claim.forget.epochMilliseconds / 1000)) },
          }),
        },
      });
      if (granted) return 'granted';
      const handled = await handledUpTo(claim);
      return handled > claim.position || (handled === claim.position && !claim.again)
        ? 'handled'
        : 'in-hand';
    },

    async settle(claim, outcome) {
      const isHandled = outcome === 'handled';
      // The owner stays, so that a retry of this very write finds its condition true again.
      return update(claim, {
        UpdateExpression: `SET #until = :now${isHandled ? ', #handled = :position' : ''}`,
        ConditionExpression: '#owner = :owner',
        ExpressionAttributeNames: {
          '#owner': names['#owner'],
          '#until': names['#until'],
          ...(isHandled && { '#handled': names['#handled'] }),
        },
        ExpressionAttributeValues: {
          ':owner': { S: claim.owner },
          ':now': { N: String(claim.now.epochMilliseconds) },
          ...(isHandled && { ':position': { N: String(claim.position) } }),
        },
      });
    },
  };
}
