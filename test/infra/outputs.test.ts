import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Resolver } from '../../local/aws/intrinsics.ts';
import { templateSchema } from '../../local/aws/template.ts';
import { district, only, synthesized } from './synthesized.ts';

const template = synthesized({ integrations: [district] });

describe('the outputs of the stack', () => {
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

  it('have the map that brings the ledger into a new stack by `cdk import`, as the page has', () => {
    const { id } = only(template, 'AWS::DynamoDB::GlobalTable');
    const { Value } = template.findOutputs('KeptOnDestroy').KeptOnDestroy ?? {};
    const map = [`{"${id}":{"TableName":"`, { Ref: id }, '"}}'];
    expect(Value).toEqual({ 'Fn::Join': ['', map] });
    expect(readFileSync('docs/operations.md', 'utf8')).toContain(`{"${id}": {"TableName":`);
  });
});
