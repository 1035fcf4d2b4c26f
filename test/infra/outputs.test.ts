import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Resolver } from '../../local/aws/intrinsics.ts';
import { templateSchema } from '../../local/aws/template.ts';
import { table, template } from './constructs/two-districts.ts';
import { at, listAt } from './synthesized.ts';

describe('the outputs of the stack', () => {
  it('have the command that fills a secret, unless it existed before', () => {
    const outputs = template.findOutputs('*');
    expect(Object.keys(outputs)).toEqual([
      'LedgerTableName',
      'KeptOnDestroy',
      'EventsTopicArn',
      'AlertsTopicArn',
      'OperationsTopicArn',
      'Dashboard',
      'Integrations',
      'PollFunctionDistrictA',
      'OperateFunctionDistrictA',
      'ScheduleDistrictA',
      'SelfCheckDistrictA',
      'SecretDistrictA',
      'FillSecretDistrictA',
      'PollFunctionDistrictB',
      'OperateFunctionDistrictB',
      'ScheduleDistrictB',
      'SelfCheckDistrictB',
      'SecretDistrictB',
    ]);
    expect(JSON.stringify(outputs.FillSecretDistrictA)).toContain(
      'aws secretsmanager put-secret-value',
    );
  });

  it.each([
    ['us-east-1', 'aws', 'console.aws.amazon.com'],
    ['cn-north-1', 'aws-cn', 'console.amazonaws.cn'],
    ['us-gov-west-1', 'aws-us-gov', 'console.amazonaws-us-gov.com'],
    ['eusc-de-east-1', 'aws-eusc', 'console.amazonaws-eusc.eu'],
  ])('lead to the dashboard in %s, of the partition %s', (region, partition, host) => {
    const understood = templateSchema.parse(template.toJSON());
    const resolver = new Resolver(understood, {
      ...{ stackName: 'notifier', accountId: '111122223333', sqsEndpoint: '', region },
      partition,
    });
    const { Value = null } = understood.Outputs.Dashboard ?? {};
    expect(resolver.resolve(Value, 'Dashboard')).toMatch(
      `https://${region}.${host}/cloudwatch/home?region=${region}#dashboards/dashboard/`,
    );
  });

  it('have the map that brings the ledger into a new stack by `cdk import`', () => {
    const { Value } = template.findOutputs('KeptOnDestroy').KeptOnDestroy ?? {};
    const parts = listAt(Value, 'Fn::Join', '1').map((part) =>
      typeof part === 'string' ? part : `the name of ${at(part, 'Ref')}`,
    );
    expect(JSON.parse(parts.join(''))).toEqual({
      [table.id]: { TableName: `the name of ${table.id}` },
    });
    // The page has it, too, for readers without the output.
    expect(readFileSync('docs/operations.md', 'utf8')).toContain(`{"${table.id}": {"TableName":`);
  });
});
