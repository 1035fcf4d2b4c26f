import { Duration, Fn, RemovalPolicy, Validations } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { warnWhereMissing } from '../config/place.ts';
import { NotifierFunction } from './notifier-function.ts';

/** The world of each demo. Anybody can compute its state at any moment (`npm run smoke`). */
const world = {
  seed: 1,
  /** Before the first demo, so that no demo sees the world begin. */
  since: Date.UTC(2026, 10, 1),
  everySeconds: 120,
  records: 400,
  until: '2026-10-31',
};

/**
 * An invented partner in the stack itself: the sandbox as a function with a URL. It has no stored state. Strangers may
 * call the URL, and get 401: the credentials are a random secret in Secrets Manager.
 */
export class DemoSandbox extends Construct {
  /** The partner's https origin, which CloudFormation fills in. */
  readonly baseUrl: string;
  readonly secret: secretsmanager.Secret;

  /** @param timeZone IANA name of the partner's */
  constructor(scope: Construct, id: string, timeZone: string) {
    super(scope, id);
    warnWhereMissing(this, 'AWS::Lambda::Url');
    this.secret = new secretsmanager.Secret(this, 'Secret', {
      description: 'Credentials of the invented partner',
      generateSecretString: {
        secretStringTemplate: JSON.stringify({ client_id: 'demo' }),
        generateStringKey: 'client_secret',
        excludePunctuation: true,
      },
    });
    Validations.of(this.secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'The people are invented. For other credentials, deploy the demo again.',
    });
    const logGroup = new logs.LogGroup(this, 'Logs', {
      retention: logs.RetentionDays.ONE_WEEK,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const sandbox = new NotifierFunction(this, 'Function', {
      runs: 'sandbox',
      description: 'An invented partner, for trying the notifier',
      // After a year the world is made in a second or two, and takes some 300 MB.
      memorySize: 1024,
      timeout: Duration.seconds(30),
      logGroup,
      environment: {
        SANDBOX: JSON.stringify({ ...world, timeZone }),
        SANDBOX_SECRET: this.secret.secretArn,
      },
      statements: [
        new iam.PolicyStatement({
          sid: 'Credentials',
          actions: ['secretsmanager:GetSecretValue'],
          resources: [this.secret.secretArn],
        }),
      ],
    });
    // Without IAM, the CDK grants everybody both lambda:InvokeFunctionUrl and lambda:InvokeFunction by the URL.
    const { url } = sandbox.addFunctionUrl({ authType: lambda.FunctionUrlAuthType.NONE });
    // AWS's URL ends with a slash.
    const [scheme, , host] = [0, 1, 2].map((part) => Fn.select(part, Fn.split('/', url)));
    this.baseUrl = Fn.join('//', [scheme ?? '', host ?? '']);
  }
}
