import { RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { ledgerKeys, ledgerTable } from '../../lambda/names.ts';

const { STRING, NUMBER } = dynamodb.AttributeType;
const { byDay, undelivered, byEvent } = ledgerTable;

const itemActions = [
  'dynamodb:GetItem',
  'dynamodb:UpdateItem',
  'dynamodb:BatchGetItem',
  'dynamodb:BatchWriteItem',
];

/**
 * The table of all announced certifications. Without it, all of history would be announced again, or a change would
 * never be noticed. Hence point-in-time recovery, deletion protection and retention.
 */
export class Ledger extends Construct {
  readonly table: dynamodb.TableV2;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.table = new dynamodb.TableV2(this, 'Table', {
      partitionKey: { name: ledgerTable.partitionKey, type: STRING },
      globalSecondaryIndexes: [
        {
          indexName: byDay.name,
          partitionKey: { name: byDay.partitionKey, type: STRING },
          sortKey: { name: byDay.sortKey, type: NUMBER },
          projectionType: dynamodb.ProjectionType.INCLUDE,
          nonKeyAttributes: [...byDay.projected],
        },
        {
          indexName: undelivered.name,
          partitionKey: { name: undelivered.partitionKey, type: STRING },
          sortKey: { name: undelivered.sortKey, type: STRING },
          projectionType: dynamodb.ProjectionType.KEYS_ONLY,
        },
        {
          indexName: byEvent.name,
          partitionKey: { name: byEvent.partitionKey, type: STRING },
          sortKey: { name: byEvent.sortKey, type: STRING },
          projectionType: dynamodb.ProjectionType.INCLUDE,
          nonKeyAttributes: [...byEvent.projected],
        },
      ],
      billing: dynamodb.Billing.onDemand(),
      // AWS's own key for this account: CloudTrail has every use, and there is no key to manage or to lose.
      encryption: dynamodb.TableEncryptionV2.awsManagedKey(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      // Not RETAIN_ON_UPDATE_OR_DELETE, as for the key and the secrets: the rollback of a failed first deployment would
      // try to delete a protected table, and fail.
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  /** The rights of a tick: it never scans and never deletes. */
  pollStatements(integration: string): iam.PolicyStatement[] {
    return this.#statements(integration, [], [byDay, undelivered]);
  }

  /**
   * The rights of commands: those of a tick, a record of commands, and one more index. Commands run ticks, decide about
   * held events, and list events.
   */
  operateStatements(integration: string): iam.PolicyStatement[] {
    const keys = [ledgerKeys.commands(integration)];
    return this.#statements(integration, keys, [byDay, undelivered, byEvent]);
  }

  #statements(
    integration: string,
    keys: readonly string[],
    indexes: readonly { readonly name: string }[],
  ): iam.PolicyStatement[] {
    return [
      this.#items(integration, keys),
      new iam.PolicyStatement({
        sid: 'LedgerIndexes',
        actions: ['dynamodb:Query'],
        resources: indexes.map(({ name }) => `${this.table.tableArn}/index/${name}`),
        conditions: onlyOf([ledgerKeys.indexed(integration, '*')]),
      }),
    ];
  }

  #items(integration: string, more: readonly string[]): iam.PolicyStatement {
    const { state, memory, calendar, certification } = ledgerKeys;
    const all = [state(integration), memory(integration), calendar(integration, '*')];
    return new iam.PolicyStatement({
      sid: 'LedgerItems',
      actions: itemActions,
      resources: [this.table.tableArn],
      conditions: onlyOf([...all, certification(integration, '*'), ...more]),
    });
  }
}

/**
 * The functions of one integration reach no item of another. `ForAllValues` lets a request without keys pass, but each
 * allowed action has to name keys; only a scan need not. A `Null` condition beside it would be no safer, and would stop
 * everything if AWS did not give the key of an index's query (not tried on AWS).
 */
function onlyOf(keys: readonly string[]) {
  return { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': keys } };
}
