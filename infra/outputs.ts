import { Aws, CfnCondition, CfnElement, CfnOutput, Fn, type Stack } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { ConfigError } from './config-error.ts';
import type { Integration } from './constructs/integration.ts';
import { pascalCase, stackOutputs } from './output-names.ts';

const place = 'CertificationNotifierOutputs';

/** The parts of a `CertificationNotifier` that have outputs. */
interface Deployed extends Construct {
  readonly events: sns.ITopic;
  readonly alerts: sns.ITopic;
  readonly operations: sns.ITopic;
  readonly key: kms.IKey;
  readonly table: dynamodb.TableV2;
  readonly queues: ReadonlyMap<string, sqs.IQueue>;
  readonly archive: s3.Bucket | undefined;
  readonly integrations: ReadonlyMap<string, Integration>;
  readonly dashboard: cloudwatch.Dashboard | undefined;
}

/**
 * The outputs that people need after a deployment: the topics to subscribe to, the dashboard, the command that fills a
 * secret.
 *
 * @throws ConfigError when the stack has them already
 */
export function addOutputs(stack: Stack, notifier: Deployed): void {
  if (stack.node.tryFindChild(place))
    throw new ConfigError(
      [
        'addOutputs: the stack has the outputs of a notifier already; allowed: once in a stack. The command line knows a notifier by its stack (--stack), so another one that it is to find needs a stack of its own',
      ],
      notifier.node.path,
    );
  // Not in the stack itself, where a foreign construct may have the same id, such as a team's own `Dashboard`.
  const outputs = new Construct(stack, place);
  const output = (name: string, value: string, description: string) =>
    new CfnOutput(outputs, name, { value, description }).overrideLogicalId(name);

  output('LedgerTableName', notifier.table.tableName, 'The ledger');
  const table = notifier.table.node.defaultChild;
  if (CfnElement.isCfnElement(table))
    output(
      'KeptOnDestroy',
      JSON.stringify({ [stack.getLogicalId(table)]: { TableName: notifier.table.tableName } }),
      'The ledger outlives the stack; with this, `npx cdk import --resource-mapping` brings it into a new one: docs/operations.md#deploy-over-an-existing-ledger',
    );
  output(stackOutputs.eventsTopic, notifier.events.topicArn, 'Events, for machines');
  output(stackOutputs.alertsTopic, notifier.alerts.topicArn, 'Digests, for people');
  output(stackOutputs.operationsTopic, notifier.operations.topicArn, 'Alarms and notices, for ops');

  if (notifier.dashboard)
    output(
      'Dashboard',
      `https://${Aws.REGION}.console.${consoleDomain(outputs)}/cloudwatch/home?region=${Aws.REGION}#dashboards/dashboard/${notifier.dashboard.dashboardName}`,
      'Are we up to date? What has changed? Is the partner well? What does it cost?',
    );

  for (const [name, queue] of notifier.queues) {
    const suffix = pascalCase(name);
    output(stackOutputs.queueUrl(name), queue.queueUrl, `Where the subscriber ${name} receives`);
    output(`QueueArn${suffix}`, queue.queueArn, `For a policy, or a function to be fed by ${name}`);
  }
  if (notifier.queues.size > 0 || notifier.archive)
    output(
      'QueuesKeyArn',
      notifier.key.keyArn,
      'Readers of the queues and of the archive decrypt with it',
    );

  if (notifier.archive)
    output(
      'ArchiveBucket',
      notifier.archive.bucketName,
      'Every event, by day: docs/subscribing.md#an-archive',
    );

  output(
    stackOutputs.integrations,
    [...notifier.integrations.keys()].join(','),
    'Who is watched: names for --integration',
  );
  for (const [name, integration] of notifier.integrations) {
    const suffix = pascalCase(name);
    const secret = integration.secret.id;
    output(`PollFunction${suffix}`, integration.poll.functionName, `Runs the ticks of ${name}`);
    output(
      stackOutputs.operateFunction(name),
      integration.operate.functionName,
      `Carries out the commands of ops for ${name}: see docs/command-line.md#commands-inside-aws`,
    );
    output(
      stackOutputs.schedule(name),
      integration.schedule.scheduleName,
      `Starts the ticks of ${name}`,
    );
    output(
      stackOutputs.selfCheck(name),
      integration.selfCheck.scheduleName,
      `Starts the self-checks of ${name}`,
    );
    output(stackOutputs.secret(name), secret, `Holds the credentials of ${name}`);
    // The owner of an existing secret fills it.
    if (integration.secret.isNew)
      output(
        `FillSecret${suffix}`,
        `aws secretsmanager put-secret-value --region ${Aws.REGION} --secret-id ${secret} --secret-string file://credentials.json`,
        `Run once with credentials.json = {"client_id": "...", "client_secret": "..."}, then delete that file`,
      );
  }
}

/** The domain of AWS's console in a region; other partitions have their own. */
function consoleDomain(scope: Construct): string {
  return Object.entries(consoleDomains).reduce((elsewhere, [partition, { id, domain }]) => {
    const expression = Fn.conditionEquals(Aws.PARTITION, partition);
    const condition = new CfnCondition(scope, id, { expression });
    return Fn.conditionIf(condition.logicalId, domain, elsewhere).toString();
  }, 'aws.amazon.com');
}

const consoleDomains = {
  'aws-cn': { id: 'IsChina', domain: 'amazonaws.cn' },
  'aws-eusc': { id: 'IsEuropeanSovereignCloud', domain: 'amazonaws-eusc.eu' },
  'aws-us-gov': { id: 'IsGovCloud', domain: 'amazonaws-us-gov.com' },
};
