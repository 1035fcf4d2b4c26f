import {
  ArnFormat,
  Aws,
  Duration,
  RemovalPolicy,
  SecretValue,
  Stack,
  Validations,
} from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as scheduler from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { environment as variables } from '../../lambda/names.ts';
import type { AlertsConfig, IntegrationConfig } from '../config.ts';
import { BaselineFanOut } from './baseline-fan-out.ts';
import { bundled } from './bundling.ts';
import type { Ledger } from './ledger.ts';
import { Operate } from './operate.ts';
import { Page } from './page.ts';
import { TickAlarms } from './tick-alarms.ts';
import type { Topics } from './topics.ts';

/**
 * What a new secret holds. CloudFormation writes it once, and again whenever this text changes:
 * an edit here would overwrite the credentials of every deployed integration. A tick that finds
 * empty values knows that nobody has filled them in, and does not knock at the partner's door.
 */
const unsetCredentials = '{"client_id":"","client_secret":""}';

/** For the partner's sake, who is asked by the ticks meanwhile as well. */
const stretchesAtOnce = 4;

interface CredentialsSecret {
  /** What GetSecretValue and people call it: the ARN of a new secret, the name of an existing one. */
  readonly id: string;
  /** What a policy calls it. */
  readonly arnPattern: string;
  /** The customer key that an existing one is encrypted with. */
  readonly keyArn: string | undefined;
}

export interface IntegrationProps {
  readonly config: IntegrationConfig;
  readonly alerts: AlertsConfig;
  readonly ledger: Ledger;
  readonly topics: Topics;
  /** ARNs of the queues that are subscribed to events. */
  readonly eventQueueArns: readonly string[];
  /** Where the scheduler leaves a tick that it could not start. */
  readonly unstarted: sqs.IQueue;
  /** Where urgent alarms go besides the operations topic. */
  readonly pager: sns.ITopic | undefined;
  readonly logRetention: logs.RetentionDays;
}

/** Everything of one set of credentials: its secret, its poll function, its schedule, its alarms. */
export class Integration extends Construct {
  readonly function: lambda.Function;
  readonly operate: lambda.Function;
  readonly schedule: scheduler.Schedule;
  readonly secret: CredentialsSecret;
  /** Where the ticks do not read the baseline by themselves. */
  readonly baseline: IStateMachine | undefined;
  /** Those that somebody has to get up for. */
  readonly urgentAlarms: readonly cloudwatch.IAlarm[];

  constructor(scope: Construct, id: string, props: IntegrationProps) {
    super(scope, id);
    const { config, ledger, topics, eventQueueArns } = props;
    this.secret = this.credentials(config);
    const logGroup = new logs.LogGroup(this, 'Logs', {
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const environment = this.environment(props);
    this.function = this.poll(props, logGroup, environment);
    this.schedule = this.scheduled(props);
    this.operate = new Operate(this, 'Operate', {
      integration: config.name,
      ledger,
      topics,
      logGroup,
      environment,
      credentials: credentialsStatements(this.secret),
      queueArns: eventQueueArns,
    }).function;
    if (config.baseline !== 'tick')
      this.baseline = new BaselineFanOut(this, 'Baseline', {
        integration: config.name,
        atOnce: config.baseline === 'fan-out' ? stretchesAtOnce : config.baseline.atOnce,
        ledger,
        topics,
        logGroup,
        environment,
        credentials: credentialsStatements(this.secret),
        unstarted: props.unstarted,
      }).stateMachine;
    const { urgent } = new TickAlarms(this, 'Alarms', {
      integration: config.name,
      poll: this.function,
      period: Duration.minutes(config.every),
      topic: topics.operations,
    });
    this.urgentAlarms = urgent;
    if (props.pager)
      new Page(this, 'Page', { integration: config.name, urgent, topic: props.pager });
  }

  private credentials({ name, secretName, secretKeyArn }: IntegrationConfig): CredentialsSecret {
    if (secretName !== undefined) {
      const arn = Stack.of(this).formatArn({
        service: 'secretsmanager',
        resource: 'secret',
        resourceName: secretName,
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      });
      // Secrets Manager adds a hyphen and six characters of its own to the name.
      return { id: secretName, arnPattern: `${arn}-??????`, keyArn: secretKeyArn };
    }
    const secret = new secretsmanager.Secret(this, 'Secret', {
      description: `Partner credentials of ${name}: {"client_id": "...", "client_secret": "..."}`,
      secretStringValue: SecretValue.unsafePlainText(unsetCredentials),
      // Other credentials mean a request to the partner (partner-api.md, 5). So it survives the
      // stack, but not the rollback of a failed first deployment, when it is still empty.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'Only the partner can rotate these credentials, on request (partner-api.md, 5).',
    });
    return { id: secret.secretArn, arnPattern: secret.secretArn, keyArn: undefined };
  }

  /** What the functions of the integration are told. */
  private environment({
    config,
    alerts,
    ledger,
    topics,
  }: IntegrationProps): Readonly<Record<string, string>> {
    const { name, baseUrl, timeZone, recentDays, every, tokenRequest, audit } = config;
    const { holdAbove, announce, baseline, fields } = config;
    return {
      [variables.table]: ledger.table.tableName,
      [variables.eventsTopic]: topics.events.topicArn,
      [variables.alertsTopic]: topics.alerts.topicArn,
      [variables.operationsTopic]: topics.operations.topicArn,
      [variables.secret]: this.secret.id,
      [variables.integration]: JSON.stringify({
        name,
        baseUrl,
        timeZone,
        recentDays,
        every,
        tokenRequest,
        audit,
        holdAbove,
        announce,
        ...(baseline !== 'tick' && { baseline: 'fan-out' }),
        fields,
      }),
      [variables.alerts]: JSON.stringify(alerts),
    };
  }

  private poll(
    { config: { name }, ledger, topics }: IntegrationProps,
    logGroup: logs.ILogGroup,
    environment: Readonly<Record<string, string>>,
  ): lambda.Function {
    const role = new iam.Role(this, 'PollRole', {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        tick: new iam.PolicyDocument({
          statements: [
            ...ledger.pollStatements(),
            ...topics.pollStatements(),
            ...credentialsStatements(this.secret),
            new iam.PolicyStatement({
              sid: 'Logs',
              actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
              resources: [logGroup.logGroupArn],
            }),
          ],
        }),
      },
    });
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Action::kms:GenerateDataKey*]',
      reason: 'SNS asks publishers to an encrypted topic for it; it is limited to that one key.',
    });
    return new lambda.Function(this, 'Poll', {
      description: `One tick: announces what changed among the assessments of ${name}`,
      code: bundled(this, 'poll'),
      handler: 'index.handler',
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      // docs/decisions/0010-bundles-and-memory.md
      memorySize: 512,
      // Below the shortest schedule, so that a tick that runs out of time is gone before the next.
      timeout: Duration.seconds(55),
      // Two ticks at once would read the partner twice and wait for each other's lease.
      reservedConcurrentExecutions: 1,
      // A tick that could not run is worthless once the next one is due; Lambda's defaults (two
      // retries, six hours) would queue stale ticks behind a long baseline.
      retryAttempts: 0,
      maxEventAge: Duration.seconds(60),
      role,
      logGroup,
      loggingFormat: lambda.LoggingFormat.JSON,
      environment: { ...environment },
    });
  }

  private scheduled({ config: { name, every }, unstarted }: IntegrationProps): scheduler.Schedule {
    const period = Duration.minutes(every);
    const role = new iam.Role(this, 'ScheduleRole', {
      assumedBy: new iam.ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
      inlinePolicies: {
        start: new iam.PolicyDocument({
          statements: [
            new iam.PolicyStatement({
              actions: ['lambda:InvokeFunction'],
              resources: [this.function.functionArn],
            }),
            new iam.PolicyStatement({
              actions: ['sqs:SendMessage'],
              resources: [unstarted.queueArn],
            }),
          ],
        }),
      },
    });
    return new scheduler.Schedule(this, 'Schedule', {
      description: `Starts a tick of ${name} every ${every} min`,
      schedule: scheduler.ScheduleExpression.rate(period),
      target: new LambdaInvoke(this.function, {
        // The construct would also allow every version and alias of the function.
        role: role.withoutPolicyUpdates(),
        retryAttempts: 3,
        maxEventAge: period,
        deadLetterQueue: unstarted,
      }),
    });
  }
}

/** Reads the one secret, and decrypts that secret and nothing else with its key. */
function credentialsStatements({ arnPattern, keyArn }: CredentialsSecret): iam.PolicyStatement[] {
  return [
    new iam.PolicyStatement({
      sid: 'Credentials',
      actions: ['secretsmanager:GetSecretValue'],
      resources: [arnPattern],
    }),
    ...(keyArn === undefined
      ? []
      : [
          new iam.PolicyStatement({
            sid: 'DecryptCredentials',
            actions: ['kms:Decrypt'],
            resources: [keyArn],
            conditions: {
              StringEquals: {
                'kms:ViaService': `secretsmanager.${Aws.REGION}.${Aws.URL_SUFFIX}`,
              },
              StringLike: { 'kms:EncryptionContext:SecretARN': arnPattern },
            },
          }),
        ]),
  ];
}
