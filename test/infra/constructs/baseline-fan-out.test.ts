import { expect, it } from 'vitest';
import { arnOf, district, only, permissions, roleOf, synthesized } from '../synthesized.ts';

const template = synthesized({ integrations: [{ ...district, baseline: 'fan-out' }] });
const machine = only(template, 'AWS::StepFunctions::StateMachine');
const rightsOf = (service: string, role: string) =>
  Object.fromEntries(permissions(roleOf(template, `${service}.amazonaws.com`, role)));

it('a fan-out sets off an alarm at its first failure', () => {
  template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    MetricName: 'ExecutionsFailed',
    Dimensions: [{ Name: 'StateMachineArn', Value: { Ref: machine.id } }],
    ...{ Statistic: 'Sum', Threshold: 1, EvaluationPeriods: 1 },
  });
});

it('a fan-out may read the one secret, write single items and start itself, and send nothing', () => {
  const table = arnOf(only(template, 'AWS::DynamoDB::GlobalTable').id);
  const logs = arnOf(expect.stringContaining('districtaLogs'));
  expect(rightsOf('lambda', 'districtaBaselineFunctionRole')).toEqual({
    'dynamodb:GetItem': [table],
    'dynamodb:UpdateItem': [table],
    'dynamodb:BatchGetItem': [table],
    'secretsmanager:GetSecretValue': [{ Ref: expect.stringContaining('districtaSecret') }],
    'logs:CreateLogStream': [logs],
    'logs:PutLogEvents': [logs],
  });
  expect(rightsOf('scheduler', 'districtaBaseline')).toEqual({
    'states:StartExecution': [{ Ref: machine.id }],
    'sqs:SendMessage': [arnOf(only(template, 'AWS::SQS::Queue').id)],
  });
  const tasks = only(template, 'AWS::Lambda::Function', {
    Description: 'Reads days of the baseline of district-a',
  });
  const { 'lambda:InvokeFunction': invoked, ...others } = rightsOf('states', 'districtaBaseline');
  expect(invoked).toEqual([arnOf(tasks.id)]);
  // AWS has no narrower resource for log deliveries.
  expect(Object.keys(others).join(' ')).toMatch(/^(logs:\w+(Deliver|LogGroups|Resource)\w* ?)*$/);
});
