import * as cdk from 'aws-cdk-lib';
import { CfnGlobalTable } from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import cdkJson from '../cdk.json' with { type: 'json' };
import { runsLocally } from './config/place.ts';
import type { NotifierConfig } from './config.ts';
import { CertificationNotifier } from './constructs/certification-notifier.ts';
import { DemoSandbox } from './constructs/demo-sandbox.ts';

export interface BuildAppOptions {
  /** Where the assembly goes; a new temporary folder when left out and not told by the CDK CLI. */
  readonly outdir?: string;
  /** `false` leaves the functions' code out of the assembly: quick, for those who run the source. */
  readonly bundle?: boolean;
  /**
   * `true` for what is run on this machine and never deployed: its partner may be here as well.
   * @default false
   */
  readonly local?: boolean;
  /**
   * `true`: its partner is a function of the stack, and nothing is kept when the stack is deleted (demo.ts).
   * @default false
   */
  readonly demo?: boolean;
}

/**
 * The CDK app with its one stack, not yet synthesized. The feature flags of `cdk.json` apply however
 * it is run, so that the CDK CLI, the tests and the local run all see the same template.
 */
export function buildApp(config: NotifierConfig, options: BuildAppOptions = {}): cdk.App {
  const app = new cdk.App({
    ...(options.outdir !== undefined && { outdir: options.outdir }),
    analyticsReporting: cdkJson.versionReporting,
    // It takes seconds, and knows what AWS would refuse; nothing of a local run gets there.
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
    // Nobody reads it, and CloudFormation counts every space (template-size.ts).
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
  // The stack's own tags do not reach it: AWS::DynamoDB::GlobalTable takes tags by replica only.
  for (const [key, value] of Object.entries(tags)) cdk.Tags.of(notifier.table).add(key, value);
  return app;
}

/** Integrations that ask an invented partner in the stack itself. */
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
