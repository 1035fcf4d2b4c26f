import { RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { ledgerTable } from '../../lambda/names.ts';

const { STRING, NUMBER } = dynamodb.AttributeType;
const { byDay, undelivered } = ledgerTable;

/**
 * The table that knows what has been announced. Losing it means announcing all of history again or
 * never noticing a change: hence point-in-time recovery, deletion protection and retention.
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
      ],
      billing: dynamodb.Billing.onDemand(),
      // AWS's own key for this account: every use is in CloudTrail, nothing to manage or to lose.
      encryption: dynamodb.TableEncryptionV2.awsManagedKey(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      // Not RETAIN_ON_UPDATE_OR_DELETE, like key and secrets: the rollback of a failed first deployment would
      // try to delete a protected table, and fail.
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  /** What the tasks of a baseline do to it: they look up by key, and add or update one item at a time. */
  baselineStatement(): iam.PolicyStatement {
    return new iam.PolicyStatement({
      sid: 'LedgerItems',
      actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem', 'dynamodb:BatchGetItem'],
      resources: [this.table.tableArn],
    });
  }

  /** What a tick does to the ledger, and no more: it never scans and never deletes. */
  pollStatements(): iam.PolicyStatement[] {
    return [
      new iam.PolicyStatement({
        sid: 'LedgerItems',
        actions: [
          'dynamodb:GetItem',
          'dynamodb:UpdateItem',
          'dynamodb:BatchGetItem',
          'dynamodb:BatchWriteItem',
        ],
        resources: [this.table.tableArn],
      }),
      new iam.PolicyStatement({
        sid: 'LedgerIndexes',
        actions: ['dynamodb:Query'],
        resources: [byDay, undelivered].map(({ name }) => `${this.table.tableArn}/index/${name}`),
      }),
    ];
  }
}
