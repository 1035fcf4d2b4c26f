import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { resourcesOf } from '../../../infra/config/limits.ts';
import { BaselineUnfinishedError, TaskFailure } from '../../../lambda/fan-out/errors.ts';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { environment, taskErrors } from '../../../lambda/names.ts';
import { at, district, listAt, only, permissions, roleOf, synthesized } from '../synthesized.ts';

const template = synthesized({
  integrations: [
    { ...district, baseline: 'fan-out' },
    { ...district, name: 'district-b' },
  ],
});
const tasks = only(template, 'AWS::Lambda::Function', {
  Description: 'Reads days of the baseline of district-a',
});
const machine = only(template, 'AWS::StepFunctions::StateMachine');
const definition = JSON.stringify(at(machine.resource, 'Properties', 'DefinitionString'));
const resources = (of: typeof template) => Object.keys(of.toJSON().Resources ?? {}).length;

describe('a baseline that fans out', () => {
  it('adds nothing to an integration without it', () => {
    const without = synthesized({ integrations: [district, { ...district, name: 'district-b' }] });
    without.resourceCountIs('AWS::StepFunctions::StateMachine', 0);
    without.resourcePropertiesCountIs(
      'AWS::Lambda::Function',
      { Description: Match.stringLikeRegexp('baseline') },
      0,
    );
    const more = resources(template) - resources(without);
    expect(more).toBe(
      resourcesOf({ integrations: 0, fanOuts: 1 }) - resourcesOf({ integrations: 0 }),
    );
  });

  it("is in the settings of that integration's ticks only", () => {
    const toldOf = (name: string) =>
      at(
        only(template, 'AWS::Lambda::Function', {
          Description: Match.stringLikeRegexp(`One tick: .* ${name}$`),
        }).resource,
        'Properties',
        'Environment',
        'Variables',
        environment.integration,
      );
    expect(toldOf('district-a')).toContain('"baseline":"fan-out"');
    expect(toldOf('district-b')).not.toContain('baseline');
  });

  it('reads four ranges at the same time, or the configured number', () => {
    expect(definition).toContain('\\"MaxConcurrency\\":4');
    expect(definition).toContain('\\"Mode\\":\\"DISTRIBUTED\\"');
    const gentle = synthesized({ integrations: [{ ...district, baseline: { atOnce: 1 } }] });
    expect(JSON.stringify(gentle.toJSON())).toContain('\\"MaxConcurrency\\":1');
  });

  it('tells each task how many read at once, and waits as long as its pace says before the next one', () => {
    expect(definition).toContain('\\"task\\":\\"read\\",\\"atOnce\\":4');
    expect(definition).toContain(
      '\\"Pace\\":{\\"Type\\":\\"Wait\\",\\"Comment\\":\\"Until the pace of the partner has room for another request\\",\\"SecondsPath\\":\\"$.result.waitSeconds\\",\\"Next\\":\\"Read\\"}',
    );
    expect(definition).toContain('\\"Default\\":\\"Pace\\"');
  });

  it('tolerates no failed range', () => {
    expect(definition).not.toContain('ToleratedFailure');
  });

  it('has the errors to retry by their names', () => {
    const lasting = new TaskFailure(new BaselineUnfinishedError([], 3));
    const passing = new TaskFailure(new LedgerUnavailableError('PutItem', {}));
    const foreign = new TaskFailure(new TypeError('Odalys Quillfeather is undefined'));
    expect([lasting.name, passing.name, foreign.name]).toEqual([
      taskErrors.lasting,
      taskErrors.passing,
      taskErrors.passing,
    ]);
    expect(foreign.message).not.toContain('Odalys');
    expect(definition).toContain(
      `{\\"ErrorEquals\\":[\\"${taskErrors.lasting}\\"],\\"MaxAttempts\\":0}`,
    );
  });

  it('is started every hour, as long as ranges are left', () => {
    const schedule = only(template, 'AWS::Scheduler::Schedule', {
      Target: { Arn: { Ref: machine.id } },
    });
    const unstarted = {
      'Fn::GetAtt': [only(template, 'AWS::SQS::Queue', { SqsManagedSseEnabled: true }).id, 'Arn'],
    };
    expect(at(schedule.resource, 'Properties')).toMatchObject({
      ScheduleExpression: 'rate(1 hour)',
      Target: { DeadLetterConfig: { Arn: unstarted } },
    });
    const role = roleOf(template, 'scheduler.amazonaws.com', 'districtaBaseline');
    expect(Object.fromEntries(permissions(role))).toEqual({
      'states:StartExecution': [{ Ref: machine.id }],
      'sqs:SendMessage': [unstarted],
    });
  });

  it('sets off an alarm at its first failure', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/States',
      MetricName: 'ExecutionsFailed',
      Dimensions: [{ Name: 'StateMachineArn', Value: { Ref: machine.id } }],
      Statistic: 'Sum',
      Threshold: 1,
      EvaluationPeriods: 1,
    });
  });

  it('reads nothing while another execution of it is running', () => {
    expect(definition).toContain('\\"StatusFilter\\":\\"RUNNING\\"');
  });

  it('asks again for running executions if Step Functions does not answer', () => {
    expect(definition).toContain(
      '\\"ResultPath\\":\\"$.executions\\",\\"Retry\\":[{\\"ErrorEquals\\":[\\"States.ALL\\"],\\"IntervalSeconds\\":60,\\"MaxAttempts\\":4,\\"BackoffRate\\":2}]',
    );
  });

  it('lets its tasks write single items and read the one secret, and send nothing', () => {
    const role = roleOf(template, 'lambda.amazonaws.com', 'districtaBaselineFunctionRole');
    const table = { 'Fn::GetAtt': [only(template, 'AWS::DynamoDB::GlobalTable').id, 'Arn'] };
    const logs = { 'Fn::GetAtt': [expect.stringContaining('districtaLogs'), 'Arn'] };
    expect(Object.fromEntries(permissions(role))).toEqual({
      'dynamodb:GetItem': [table],
      'dynamodb:UpdateItem': [table],
      'dynamodb:BatchGetItem': [table],
      'secretsmanager:GetSecretValue': [{ Ref: expect.stringContaining('districtaSecret') }],
      'logs:CreateLogStream': [logs],
      'logs:PutLogEvents': [logs],
    });
  });

  it('lets the state machine invoke its one function and see its own executions', () => {
    const role = roleOf(template, 'states.amazonaws.com', 'districtaBaseline');
    const { 'lambda:InvokeFunction': invoke, ...others } = Object.fromEntries(permissions(role));
    expect(invoke).toEqual([{ 'Fn::GetAtt': [tasks.id, 'Arn'] }]);
    // AWS has no narrower resource for log deliveries.
    expect(
      Object.keys(others).filter((action) => !/^logs:\w+(Deliver|LogGroups|Resource)/.test(action)),
    ).toEqual([]);
    const executions = ['/*', ':*'].map((ending) => ({
      'Fn::Join': [
        '',
        expect.arrayContaining([':execution:', { 'Fn::GetAtt': [machine.id, 'Name'] }, ending]),
      ],
    }));
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: [
          Match.objectLike({
            Action: ['states:ListExecutions', 'states:StartExecution'],
            Resource: { Ref: machine.id },
          }),
          Match.objectLike({ Action: ['states:DescribeExecution', 'states:StopExecution'] }),
        ],
      },
    });
    const { resource: policy } = only(template, 'AWS::IAM::Policy');
    const [, ranges] = listAt(policy, 'Properties', 'PolicyDocument', 'Statement');
    expect(at(ranges, 'Resource')).toEqual(executions);
  });

  it('lets the scheduler and Step Functions in on behalf of this account only', () => {
    const trust = Object.values(template.findResources('AWS::IAM::Role'))
      .flatMap((role) => listAt(role, 'Properties', 'AssumeRolePolicyDocument', 'Statement'))
      .filter((statement) => at(statement, 'Principal', 'Service') !== 'lambda.amazonaws.com');
    expect(trust).toHaveLength(3);
    for (const statement of trust)
      expect(at(statement, 'Condition')).toEqual({
        StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } },
      });
  });

  it('uses a log group that AWS does not list in a growing policy', () => {
    const { LoggingConfiguration } = { ...Object(at(machine.resource, 'Properties')) };
    const [destination] = listAt(LoggingConfiguration, 'Destinations');
    const [id] = listAt(destination, 'CloudWatchLogsLogGroup', 'LogGroupArn', 'Fn::GetAtt');
    const group = template.findResources('AWS::Logs::LogGroup')[String(id)];
    expect(JSON.stringify(at(group, 'Properties', 'LogGroupName'))).toContain(
      '"/aws/vendedlogs/states/',
    );
    expect(at(group, 'Properties', 'RetentionInDays')).toBe(30);
    expect(at(group, 'DeletionPolicy')).toBe('Delete');
  });
});
