import { Duration, Fn, RemovalPolicy, Validations } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { sandboxCode } from './function-code.ts';

/** The world that each demo has: what is in it at a moment, everybody can compute (`npm run smoke`). */
const world = {
  seed: 1,
  /** Before the first demo, so that no demo sees it begin. */
  since: Date.UTC(2026, 10, 1),
  everySeconds: 120,
  records: 400,
  until: '2026-10-31',
};

/**
 * An invented partner in the stack itself: the sandbox as a function with a URL. It keeps no state. Strangers
 * may call the URL, and get 401: its credentials are a random secret of Secrets Manager.
 */
export class DemoSandbox extends Construct {
  /** Where it answers: an https origin, which CloudFormation fills in. */
  readonly baseUrl: string;
  readonly secret: secretsmanager.Secret;

  /** @param timeZone IANA name of the partner's */
  constructor(scope: Construct, id: string, timeZone: string) {
    super(scope, id);
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
      reason: 'Invented people: whoever wants other credentials deploys the demo anew.',
    });
    const logGroup = new logs.LogGroup(this, 'Logs', {
      retention: logs.RetentionDays.ONE_WEEK,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const sandbox = new lambda.Function(this, 'Function', {
      description: 'An invented partner, for trying the notifier',
      role: this.#role(logGroup),
      code: sandboxCode(this),
      handler: 'index.handler',
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      // After a year the world is made in a second or two, and takes some 300 MB.
      memorySize: 1024,
      timeout: Duration.seconds(30),
      loggingFormat: lambda.LoggingFormat.JSON,
      logGroup,
      environment: {
        SANDBOX: JSON.stringify({ ...world, timeZone }),
        SANDBOX_SECRET: this.secret.secretArn,
      },
    });
    // Without IAM, the CDK grants everybody both lambda:InvokeFunctionUrl and lambda:InvokeFunction by the URL.
    const { url } = sandbox.addFunctionUrl({ authType: lambda.FunctionUrlAuthType.NONE });
    // AWS writes it with a slash at its end.
    const [scheme, , host] = [0, 1, 2].map((part) => Fn.select(part, Fn.split('/', url)));
    this.baseUrl = Fn.join('//', [scheme ?? '', host ?? '']);
  }

  #role(logGroup: logs.ILogGroup): iam.Role {
    return new iam.Role(this, 'FunctionRole', {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        sandbox: new iam.PolicyDocument({
          statements: [
            new iam.PolicyStatement({
              sid: 'Credentials',
              actions: ['secretsmanager:GetSecretValue'],
              resources: [this.secret.secretArn],
            }),
            new iam.PolicyStatement({
              sid: 'Logs',
              actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
              resources: [logGroup.logGroupArn],
            }),
          ],
        }),
      },
    });
  }
}
