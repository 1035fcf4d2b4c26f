import * as cdk from 'aws-cdk-lib';
import { CfnGlobalTable } from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import cdkJson from '../cdk.json' with { type: 'json' };
import { runsLocally } from './config/place.ts';
import type { NotifierConfig } from './config.ts';
import { CertificationNotifier } from './constructs/certification-notifier.ts';
import { DemoSandbox } from './constructs/demo-sandbox.ts';

export interface BuildAppOptions {
  /** The folder of the assembly. Default: the one that the CDK CLI names, or a new temporary one. */
  readonly outdir?: string;
  /**
   * `false` leaves the functions' code out of the assembly. This is faster where the functions run from the sources.
   */
  readonly bundle?: boolean;
  /**
   * `true` for an app that runs on this machine and is never deployed: its partner may be on this machine, too.
   * @default false
   */
  readonly local?: boolean;
  /**
   * `true`: the partner is a function of the stack, and deleting the stack leaves nothing (demo.ts).
   * @default false
   */
  readonly demo?: boolean;
}

/**
 * The CDK app with its one stack, not yet synthesized. The feature flags of `cdk.json` always apply, so the CDK CLI,
 * the tests and the local run have the same template.
 */
export function buildApp(config: NotifierConfig, options: BuildAppOptions = {}): cdk.App {
  const app = new cdk.App({
    ...(options.outdir !== undefined && { outdir: options.outdir }),
    analyticsReporting: cdkJson.versionReporting,
    // The validation takes seconds and finds templates that AWS would refuse. A local run sends AWS no template.
    builtinCloudFormationValidation: !options.local,
    context: {
      ...cdkJson.context,
      ...(options.bundle === false && { 'aws:cdk:bundling-stacks': [] }),
      ...(options.local && { [runsLocally]: true }),
    },
  });
  const { stackName, terminationProtection, tags, permissionsBoundary, ...settings } = config;
  const stack = new cdk.Stack(app, stackName, {
    description: `Turns a poll-only assessment API into push: ledger, topics and scheduled polls. Deleting it keeps ${options.demo ? 'nothing' : 'the ledger, the secrets, the key and the archive'}.`,
    terminationProtection,
    tags,
    // CloudFormation's limit counts spaces, too, and nobody reads the template (template-size.ts).
    suppressTemplateIndentation: true,
  });
  if (permissionsBoundary !== undefined)
    iam.PermissionsBoundary.of(stack).apply(boundaryOf(stack, permissionsBoundary));
  // The CDK itself makes every function depend on its role, which cfn-lint finds redundant.
  stack.templateOptions.metadata = { 'cfn-lint': { config: { ignore_checks: ['W3005'] } } };
  const notifier = new CertificationNotifier(
    stack,
    'Notifier',
    options.demo
      ? { ...settings, integrations: ofTheStack(stack, settings.integrations) }
      : settings,
  );
  notifier.addOutputs();
  if (options.demo) keepNothing(stack, notifier);
  // The stack's tags do not reach the table: AWS::DynamoDB::GlobalTable takes tags by replica only.
  for (const [key, value] of Object.entries(tags)) cdk.Tags.of(notifier.table).add(key, value);
  return app;
}

/** Integrations whose partner is an invented one in the stack itself. */
function ofTheStack(stack: cdk.Stack, integrations: NotifierConfig['integrations']) {
  return integrations.map((integration) => {
    const { baseUrl, secret } = new DemoSandbox(stack, 'Sandbox', integration.timeZone);
    return { ...integration, baseUrl, secret };
  });
}

function keepNothing(stack: cdk.Stack, { table, node }: CertificationNotifier): void {
  cdk.RemovalPolicies.of(stack).destroy();
  const { defaultChild } = table.node;
  if (defaultChild instanceof CfnGlobalTable)
    defaultChild.addPropertyOverride('Replicas.0.DeletionProtectionEnabled', false);
  cdk.Annotations.of(node.scope ?? stack).acknowledgeWarning(
    'certification-notifier:nobody-on-operations',
    'Nobody is on duty for a demo.',
  );
}

function boundaryOf(stack: cdk.Stack, policy: string): iam.IManagedPolicy {
  return policy.startsWith('arn:')
    ? iam.ManagedPolicy.fromManagedPolicyArn(stack, 'Boundary', policy)
    : iam.ManagedPolicy.fromManagedPolicyName(stack, 'Boundary', policy);
}
