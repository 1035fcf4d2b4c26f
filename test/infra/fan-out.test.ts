import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { resourcesOf } from '../../infra/config/limits.ts';
import { BaselineUnfinishedError, TaskFailure } from '../../lambda/fan-out/errors.ts';
import { LedgerUnavailableError } from '../../lambda/ledger/errors.ts';
import { environment, taskErrors } from '../../lambda/names.ts';
import { at, district, only, permissions, roleOf, synthesized } from './synthesized.ts';

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
  it('costs an integration that does not ask for it nothing', () => {
    const without = synthesized({ integrations: [district, { ...district, name: 'district-b' }] });
    without.resourceCountIs('AWS::StepFunctions::StateMachine', 0);
    without.resourcePropertiesCountIs(
      'AWS::Lambda::Function',
      { Description: Match.stringLikeRegexp('baseline') },
      0,
    );
    const more = resources(template) - resources(without);
    expect(more).toBe(resourcesOf(0, 0, 1) - resourcesOf(0, 0, 0));
  });

  it('is told to the ticks of that integration only', () => {
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

  it('reads four stretches at the same time, or as many as the config says', () => {
    expect(definition).toContain('\\"MaxConcurrency\\":4');
    expect(definition).toContain('\\"Mode\\":\\"DISTRIBUTED\\"');
    const gentle = synthesized({ integrations: [{ ...district, baseline: { atOnce: 1 } }] });
    expect(JSON.stringify(gentle.toJSON())).toContain('\\"MaxConcurrency\\":1');
  });

  it('tolerates no failed stretch', () => {
    expect(definition).not.toContain('ToleratedFailure');
  });

  it('knows by their names which errors to try again', () => {
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

  it('is started every hour, as long as something is left', () => {
    const schedule = only(template, 'AWS::Scheduler::Schedule', {
      Target: { Arn: { Ref: machine.id } },
    });
    expect(at(schedule.resource, 'Properties', 'ScheduleExpression')).toBe('rate(1 hour)');
  });

  it('lets its tasks write single items, read the one secret and tell operations', () => {
    const role = roleOf(template, 'lambda.amazonaws.com', 'districtaBaselineRole');
    const table = { 'Fn::GetAtt': [only(template, 'AWS::DynamoDB::GlobalTable').id, 'Arn'] };
    const key = { 'Fn::GetAtt': [only(template, 'AWS::KMS::Key').id, 'Arn'] };
    const logs = { 'Fn::GetAtt': [expect.stringContaining('districtaLogs'), 'Arn'] };
    expect(Object.fromEntries(permissions(role))).toEqual({
      'dynamodb:GetItem': [table],
      'dynamodb:PutItem': [table],
      'dynamodb:UpdateItem': [table],
      'dynamodb:BatchGetItem': [table],
      'secretsmanager:GetSecretValue': [{ Ref: expect.stringContaining('districtaSecret') }],
      'sns:Publish': [{ Ref: expect.stringContaining('Operations') }],
      'kms:Decrypt': [key],
      'kms:GenerateDataKey*': [key],
      'logs:CreateLogStream': [logs],
      'logs:PutLogEvents': [logs],
    });
  });

  it('lets the state machine invoke its one function and see its own executions', () => {
    const role = roleOf(template, 'states.amazonaws.com', 'districtaBaseline');
    const invoke = permissions(role).get('lambda:InvokeFunction');
    expect(invoke).toEqual([{ 'Fn::GetAtt': [tasks.id, 'Arn'] }]);
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
  });

  it('passes the checks of the synthesis', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fan-out-'));
    const config = { integrations: [{ ...district, baseline: 'fan-out' }] };
    const file = join(folder, 'fan-out.config.mjs');
    writeFileSync(file, `export default ${JSON.stringify(config)};`);
    const app = fileURLToPath(new URL('../../infra/app.ts', import.meta.url));
    const { status, stdout, stderr } = spawnSync(process.execPath, [app, file], {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        CDK_OUTDIR: join(folder, 'assembly'),
        CDK_CONTEXT_JSON: JSON.stringify({ 'aws:cdk:bundling-stacks': [] }),
      },
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    expect(stdout + stderr).not.toMatch(/AwsSolutions-|ERROR/);
    expect(status).toBe(0);
  });
});
