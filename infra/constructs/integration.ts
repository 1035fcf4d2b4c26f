import { createHash } from 'node:crypto';
import { Aws, Duration, Names, RemovalPolicy, SecretValue, Stack, Validations } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as scheduler from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct, type IDependable } from 'constructs';
import { type ExpectedSubscription, environment as variables } from '../../lambda/names.ts';
import type { AlertsConfig, IntegrationSettings } from '../config.ts';
import { integrationVariable } from '../function-settings.ts';
import type { Ledger } from './ledger.ts';
import { type FunctionSurroundings, NotifierFunction } from './notifier-function.ts';
import { describedAlarm } from './operations-alarm.ts';
import type { Starter } from './starter.ts';
import { TickAlarms } from './tick-alarms.ts';
import type { Topics } from './topics.ts';

/**
 * The first value of a new secret. CloudFormation writes it once, and again whenever this text changes: an edit here
 * would overwrite the credentials of every deployed integration. A tick that finds empty values knows that nobody has
 * stored credentials, and does not ask the partner.
 */
const unsetCredentials = '{"client_id":"","client_secret":""}';

/** The secret with the credentials of an integration. */
export interface CredentialsSecret {
  /** Whether it is made with the integration. It is then empty until somebody fills it. */
  readonly isNew: boolean;
  /**
   * The id for GetSecretValue and for people: the ARN, or the name if only that is known of a secret of this account.
   */
  readonly id: string;
  /** The ARN, or a pattern for it, in a policy. */
  readonly arnPattern: string;
  /** The customer key of an existing secret. */
  readonly keyArn: string | undefined;
}

export interface IntegrationProps {
  readonly config: IntegrationSettings;
  /** How people are told; the same for all integrations. */
  readonly alerts: AlertsConfig;
  readonly ledger: Ledger;
  readonly topics: Topics;
  /** ARNs of the queues that are subscribed to events. */
  readonly eventQueueArns: readonly string[];
  /** The subscriptions. Messages that are published before these exist are lost. */
  readonly subscriptions: IDependable;
  /** Takes the ticks that the scheduler could not start. */
  readonly unstarted: sqs.IQueue;
  /** Starts ticks and self-checks. */
  readonly starter: Starter;
  /** The subscriptions that the self-check looks for; undefined: another integration's self-check does. */
  readonly expected: readonly ExpectedSubscription[] | undefined;
  /** Gets the urgent alarms besides the operations topic. Undefined: nobody does. */
  readonly pager: sns.ITopic | undefined;
  /** Days. */
  readonly logRetention: logs.RetentionDays;
  /** Whether one concurrent execution of the account is reserved for the ticks. */
  readonly reserveConcurrency: boolean;
}

/** The resources of one set of credentials: the secret, the functions, the schedules and the alarms. */
export class Integration extends Construct {
  /** Runs the ticks. */
  readonly poll: lambda.Function;
  /** Carries out the commands of ops. */
  readonly operate: lambda.Function;
  readonly schedule: scheduler.Schedule;
  /** Starts the self-checks; its input has the expected subscriptions. */
  readonly selfCheck: scheduler.Schedule;
  readonly secret: CredentialsSecret;
  /** Alarms that wake somebody. */
  readonly urgentAlarms: readonly cloudwatch.IAlarm[];

  constructor(scope: Construct, id: string, props: IntegrationProps) {
    super(scope, id);
    const { config, ledger, topics } = props;
    this.secret = this.#credentials(config);
    const logGroup = new logs.LogGroup(this, 'Logs', {
      retention: props.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const surroundings: FunctionSurroundings = {
      logGroup,
      environment: this.#environment(props),
      subscriptions: props.subscriptions,
    };
    this.poll = this.#pollFunction(props, surroundings);
    this.schedule = this.#scheduled(props);
    this.operate = this.#operateFunction(props, surroundings);
    this.selfCheck = this.#checkedDaily(props);
    const { urgent } = new TickAlarms(this, 'Alarms', {
      integration: config.name,
      ledger: ledger.table.tableName,
      poll: this.poll,
      schedule: this.schedule,
      period: Duration.minutes(config.every),
      tells: topics.ofOperations,
    });
    this.urgentAlarms = urgent;
    if (props.pager) this.#wakes(props.pager, config.name, urgent);
  }

  /** Wakes somebody once, also if several urgent alarms go off. */
  #wakes(pager: sns.ITopic, integration: string, urgent: readonly cloudwatch.IAlarm[]): void {
    const alarm = new cloudwatch.CompositeAlarm(this, 'Page', {
      // The CDK would name the alarm after its place in the app, which two deployments share. A stack's name has at
      // most 128 characters, an alarm's 255.
      compositeAlarmName: `${Aws.STACK_NAME}-${Names.uniqueResourceName(this, { maxLength: 100 })}`,
      alarmRule: cloudwatch.AlarmRule.anyOf(
        ...urgent.map((one) => cloudwatch.AlarmRule.fromAlarm(one, cloudwatch.AlarmState.ALARM)),
      ),
      alarmDescription: describedAlarm(this, { condition: 'paged', integration }),
    });
    alarm.addAlarmAction(new SnsAction(pager));
    alarm.addOkAction(new SnsAction(pager));
  }

  #credentials(settings: IntegrationSettings): CredentialsSecret {
    const { name, secretName, secretKeyArn } = settings;
    const existing =
      secretName === undefined
        ? settings.secret
        : secretsmanager.Secret.fromSecretNameV2(this, 'Secret', secretName);
    if (existing) {
      const { secretFullArn, secretArn, encryptionKey, env } = existing;
      // A name is looked up in the stack's own account, where it is better than a partial ARN: Secrets Manager takes a
      // hyphen and six characters at the end of an ARN for its own.
      const isOurs = env.account === Stack.of(this).account;
      return {
        isNew: false,
        id: secretFullArn ?? (isOurs ? existing.secretName : secretArn),
        // Secrets Manager adds a hyphen and six characters to the name.
        arnPattern: secretFullArn ?? `${secretArn}-??????`,
        keyArn: secretKeyArn ?? encryptionKey?.keyArn,
      };
    }
    const secret = new secretsmanager.Secret(this, 'Secret', {
      description: `Partner credentials of ${name}: {"client_id": "...", "client_secret": "..."}`,
      secretStringValue: SecretValue.unsafePlainText(unsetCredentials),
      // New credentials need a request to the partner (docs/partner.md, 5). So the secret survives the stack, but not
      // the rollback of a failed first deployment, when it is still empty.
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    Validations.of(secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'Only the partner can rotate these credentials, on request (docs/partner.md, 5).',
    });
    return {
      isNew: true,
      id: secret.secretArn,
      arnPattern: secret.secretArn,
      keyArn: undefined,
    };
  }

  /** The environment of all functions of the integration. */
  #environment({
    config,
    alerts,
    ledger,
    topics,
  }: IntegrationProps): Readonly<Record<string, string>> {
    return {
      [variables.table]: ledger.table.tableName,
      [variables.eventsTopic]: topics.events.topicArn,
      [variables.alertsTopic]: topics.alerts.topicArn,
      [variables.operationsTopic]: topics.operations.topicArn,
      ...(topics.chat.alerts && { [variables.chatAlertsTopic]: topics.chat.alerts.topicArn }),
      ...(topics.chat.operations && {
        [variables.chatOperationsTopic]: topics.chat.operations.topicArn,
      }),
      [variables.stack]: Stack.of(this).stackName,
      [variables.secret]: this.secret.id,
      [variables.integration]: integrationVariable(config),
      [variables.alerts]: JSON.stringify(alerts),
    };
  }

  #pollFunction(
    { config: { name }, ledger, topics, reserveConcurrency }: IntegrationProps,
    surroundings: FunctionSurroundings,
  ): lambda.Function {
    return new NotifierFunction(this, 'Poll', {
      ...surroundings,
      runs: 'poll',
      description: `One tick: announces changes among the assessments of ${name}`,
      // Below the shortest schedule, so that a tick that runs out of time has ended before the next.
      timeout: Duration.seconds(55),
      // Two ticks at once would both ask the partner; the lease then ends one of them.
      ...(reserveConcurrency && { reservedConcurrentExecutions: 1 }),
      // A tick that could not run is worthless once the next one is due. By default, hours of stale ticks would queue
      // behind a long baseline.
      maxEventAge: Duration.seconds(60),
      statements: [
        ...ledger.pollStatements(name),
        ...topics.pollStatements(),
        ...credentialsStatements(this.secret),
      ],
    });
  }

  /**
   * The function that carries out the commands of ops. Its role has the rights of a tick. It may also send to subscribed
   * queues, and look at these, at the topics and at their key.
   */
  #operateFunction(
    { config: { name }, ledger, topics, eventQueueArns }: IntegrationProps,
    surroundings: FunctionSurroundings,
  ): lambda.Function {
    return new NotifierFunction(this, 'Operate', {
      ...surroundings,
      runs: 'operate',
      description: `Commands of ops for ${name}: status, release, replay and more`,
      // The AWS CLI waits 60 seconds for an answer, and then invokes the function again. A longer command answers with
      // the point where to go on.
      timeout: Duration.seconds(55),
      maxEventAge: Duration.seconds(60),
      statements: [
        ...ledger.operateStatements(name),
        ...topics.pollStatements('kms:DescribeKey', 'kms:GetKeyPolicy'),
        ...credentialsStatements(this.secret),
        new iam.PolicyStatement({
          sid: 'LookAtTopics',
          actions: ['sns:GetTopicAttributes', 'sns:ListSubscriptionsByTopic'],
          resources: topics.all.map(({ topicArn }) => topicArn),
        }),
        ...(eventQueueArns.length === 0
          ? []
          : [
              new iam.PolicyStatement({
                sid: 'SendToSubscribedQueues',
                actions: ['sqs:GetQueueUrl', 'sqs:GetQueueAttributes', 'sqs:SendMessage'],
                resources: [...eventQueueArns],
              }),
            ]),
      ],
    });
  }

  #scheduled({ config: { name, every }, starter, unstarted }: IntegrationProps) {
    const period = Duration.minutes(every);
    return new scheduler.Schedule(this, 'Schedule', {
      description: `Starts a tick of ${name} every ${every} min`,
      schedule: scheduler.ScheduleExpression.rate(period),
      target: new LambdaInvoke(this.poll, {
        role: starter.starting(this.poll),
        retryAttempts: 3,
        maxEventAge: period,
        deadLetterQueue: unstarted,
      }),
    });
  }

  /**
   * Each integration has a minute of its own. The schedule needs no dead-letter queue, since the ticks report a
   * self-check that is overdue.
   */
  #checkedDaily({ config: { name }, starter, expected }: IntegrationProps) {
    const digest = createHash('sha256').update(name).digest();
    return new scheduler.Schedule(this, 'SelfCheck', {
      description: `Starts a self-check of ${name} once a day`,
      schedule: scheduler.ScheduleExpression.cron({
        hour: String(1 + (digest.readUInt16BE(0) % 22)),
        minute: String(1 + (digest.readUInt16BE(2) % 58)),
      }),
      target: new LambdaInvoke(this.operate, {
        role: starter.starting(this.operate),
        input: scheduler.ScheduleTargetInput.fromObject({
          command: 'check',
          note: true,
          ...(expected && { subscriptions: expected }),
        }),
        retryAttempts: 3,
        maxEventAge: Duration.hours(1),
      }),
    });
  }
}

/** Allows to read this secret, and to decrypt only this secret with its key. */
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
