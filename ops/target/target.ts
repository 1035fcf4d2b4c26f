import {
  CloudFormationClient,
  DescribeStacksCommand,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { stackOutputs } from '../../infra/output-names.ts';
import { NotFoundError, UsageError } from '../errors.ts';
import type { OpsHost } from '../host.ts';
import { type Access, type AwsService, type Clients, calling, timeouts } from './access.ts';
import { AwsFailedError, NotSignedInError } from './errors.ts';
import { localSettings, localUser } from './local.ts';
import { blameProfile, profileOf } from './profile.ts';

/** The options that name the deployment of a command. */
export interface TargetOptions {
  readonly stack?: string | undefined;
  readonly local: boolean;
  readonly region?: string | undefined;
  readonly profile?: string | undefined;
}

/** The stack's resources for one integration. */
export interface DeployedIntegration {
  readonly name: string;
  readonly operateFunction: string;
  readonly schedule: string;
  /** The schedule of the self-checks. */
  readonly selfCheck: string;
  /** ARN or name. */
  readonly secret: string;
}

/** A deployment: in AWS, or on this machine. */
export interface Target {
  readonly access: Access;
  /** The stack's name. */
  readonly name: string;
  readonly topics: {
    readonly events: string;
    readonly alerts: string;
    readonly operations: string;
  };
  readonly integrations: readonly DeployedIntegration[];
  /** An output of the stack. @throws NotFoundError if the stack has none of that name */
  output(name: string): string;
  /** The caller: an ARN; locally, the user of this machine. */
  caller(): Promise<string>;
}

/** @throws UsageError, NotFoundError, NotPermittedError, AwsFailedError */
export async function findTarget(
  options: TargetOptions,
  host: Pick<OpsHost, 'aws' | 'environment' | 'stopping'>,
  clients: Clients,
): Promise<Target> {
  const { stack, local, region, profile } = options;
  if (local === (stack !== undefined))
    throw new UsageError(
      local ? '--local and --stack exclude each other.' : 'No deployment is named.',
      'Give --stack NAME for one in AWS (or set NOTIFIER_STACK), or --local for the one that npm start runs here.',
    );
  if (local && (region !== undefined || profile !== undefined))
    throw new UsageError(
      '--region and --profile are for AWS, and --local is this machine.',
      'Leave them out, or give --stack instead of --local.',
    );
  if (stack !== undefined && !/^[A-Za-z][\w-]{0,127}$|^arn:/.test(stack))
    throw new UsageError(
      '--stack is not the name of a stack.',
      'Names are letters, digits and hyphens.',
    );
  const { environment } = host;
  const stop = host.stopping.signal;
  const settings = local
    ? await localSettings(environment)
    : (service: AwsService) => host.aws(service, { region, profile });
  const access: Access = {
    isLocal: local,
    clients,
    settings: (service) => ({ ...timeouts(), ...settings(service) }),
  };
  const described = describedStack(access, { ...options, environment }, stop).catch(
    async (error) => {
      if (error instanceof NotSignedInError && !local)
        await blameProfile(profile, environment, error.cause);
      throw error;
    },
  );
  return describe(access, await described, stop);
}

async function describedStack(
  access: Access,
  { stack: StackName, profile, environment }: TargetOptions & Pick<OpsHost, 'environment'>,
  stop: AbortSignal,
): Promise<Stack> {
  const client = access.clients.open(new CloudFormationClient(access.settings('cloudFormation')));
  const region = await client.config.region().catch(async () => {
    await profileOf(profile, environment);
    throw new UsageError(
      'The region of the stack is not known.',
      'Give --region, or set AWS_REGION, or a region in the profile.',
    );
  });
  const command = new DescribeStacksCommand(StackName === undefined ? {} : { StackName });
  const { Stacks = [] } = await calling(
    'cloudformation:DescribeStacks',
    () => client.send(command, { abortSignal: stop }),
    stop,
  ).catch((error) => {
    // CloudFormation has no error for a stack that does not exist. Since the name is valid, a ValidationError means
    // that.
    const isUnknown = error instanceof AwsFailedError && error.reason === 'ValidationError';
    throw isUnknown ? noStack(StackName, region) : error;
  });
  const [stack] = Stacks;
  if (stack === undefined) throw noStack(StackName, region);
  return stack;
}

function noStack(name = '', region: string): NotFoundError {
  return new NotFoundError(
    `There is no stack ${name} in ${region}.`,
    'Check the name (aws cloudformation list-stacks), the region and the profile.',
  );
}

function describe(
  access: Access,
  { StackName = '', Outputs = [] }: Stack,
  stop: AbortSignal,
): Target {
  const values = new Map(Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
  const output = (name: string) => {
    const value = values.get(name);
    if (value !== undefined) return value;
    throw new NotFoundError(
      `The stack ${StackName} has no output ${name}.`,
      'Is it a stack of certification-notifier? Then deploy it again: its version is older than this command line.',
    );
  };
  return {
    access,
    name: StackName,
    topics: {
      events: output(stackOutputs.eventsTopic),
      alerts: output(stackOutputs.alertsTopic),
      operations: output(stackOutputs.operationsTopic),
    },
    integrations: output(stackOutputs.integrations)
      .split(',')
      .map((name) => ({
        name,
        operateFunction: output(stackOutputs.operateFunction(name)),
        schedule: output(stackOutputs.schedule(name)),
        selfCheck: output(stackOutputs.selfCheck(name)),
        secret: output(stackOutputs.secret(name)),
      })),
    output,
    caller: async () => (access.isLocal ? localUser() : callerIdentity(access, stop)),
  };
}

async function callerIdentity(access: Access, stop: AbortSignal): Promise<string> {
  const client = access.clients.open(new STSClient(access.settings('sts')));
  const { Arn = '' } = await calling(
    'sts:GetCallerIdentity',
    () => client.send(new GetCallerIdentityCommand({}), { abortSignal: stop }),
    stop,
  );
  return Arn;
}

/**
 * The integrations of a command: the named one, or all.
 *
 * @throws NotFoundError with the names of all
 */
export function selectIntegrations(
  { name: stack, integrations }: Target,
  asked: string | undefined,
): readonly DeployedIntegration[] {
  if (asked === undefined) return integrations;
  const found = integrations.filter(({ name }) => name === asked);
  if (found.length > 0) return found;
  throw new NotFoundError(
    `The deployment ${stack} watches no integration ${asked}.`,
    `It watches ${integrations.map(({ name }) => name).join(', ')}.`,
  );
}

/** @throws UsageError with the names of all if there are several, NotFoundError */
export function selectIntegration(target: Target, asked: string | undefined): DeployedIntegration {
  const [first, ...others] = selectIntegrations(target, asked);
  if (first !== undefined && others.length === 0) return first;
  throw new UsageError(
    'The deployment has several integrations, and none is named.',
    `Give --integration: one of ${target.integrations.map(({ name }) => name).join(', ')}.`,
  );
}
