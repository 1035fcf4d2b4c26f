import { Aws, CfnOutput, type Stack } from 'aws-cdk-lib';
import { pascalCase, stackOutputs } from '../lambda/names.ts';
import type { CertificationNotifier } from './constructs/certification-notifier.ts';

/** What people need after a deployment: whom to subscribe to, where to look, how to fill a secret. */
export function addOutputs(stack: Stack, notifier: CertificationNotifier): void {
  const output = (id: string, value: string, description: string) =>
    new CfnOutput(stack, id, { value, description });

  output('LedgerTableName', notifier.ledger.table.tableName, 'The ledger');
  output(stackOutputs.eventsTopic, notifier.topics.events.topicArn, 'Events, for machines');
  output(stackOutputs.alertsTopic, notifier.topics.alerts.topicArn, 'Digests, for people');
  output(
    stackOutputs.operationsTopic,
    notifier.topics.operations.topicArn,
    'Alarms, for operators',
  );

  if (notifier.dashboard)
    output(
      'Dashboard',
      `https://${Aws.REGION}.console.aws.amazon.com/cloudwatch/home#dashboards/dashboard/${notifier.dashboard.dashboardName}`,
      'Are we up to date, what has changed, is the partner well, what does it cost',
    );

  for (const [name, queue] of notifier.subscriptions.newQueues) {
    const suffix = pascalCase(name);
    output(`QueueUrl${suffix}`, queue.queueUrl, `Where the subscriber ${name} receives`);
    output(`QueueArn${suffix}`, queue.queueArn, `For a policy, or a function to be fed by ${name}`);
  }
  if (notifier.subscriptions.newQueues.size > 0)
    output('QueuesKeyArn', notifier.topics.key.keyArn, 'Readers of the queues decrypt with it');

  output(
    stackOutputs.integrations,
    [...notifier.integrations.keys()].join(','),
    'Who is watched: names for --integration',
  );
  for (const [name, integration] of notifier.integrations) {
    const suffix = pascalCase(name);
    const secret = integration.secret.id;
    output(`PollFunction${suffix}`, integration.function.functionName, `Runs the ticks of ${name}`);
    output(
      stackOutputs.operateFunction(name),
      integration.operate.functionName,
      `Carries out what operators ask for about ${name}: see docs/commands.md`,
    );
    if (integration.baseline)
      output(
        `BaselineStateMachine${suffix}`,
        integration.baseline.stateMachineArn,
        `Reads the baseline of ${name}: see docs/large-histories.md`,
      );
    output(
      stackOutputs.schedule(name),
      integration.schedule.scheduleName,
      `Starts the ticks of ${name}`,
    );
    output(stackOutputs.secret(name), secret, `Holds the credentials of ${name}`);
    output(
      `FillSecret${suffix}`,
      `aws secretsmanager put-secret-value --region ${Aws.REGION} --secret-id ${secret} --secret-string file://credentials.json`,
      `Run once with credentials.json = {"client_id": "...", "client_secret": "..."}, then delete that file`,
    );
  }
}
