import { type Clock, systemClock } from '../lambda/clock.ts';
import type { Command } from '../lambda/commands/contract.ts';
import type { CommandPlace } from '../lambda/condition-table.ts';
import { shellQuoted } from './render/text.ts';
import type { AwsService, ClientSettings } from './target/access.ts';
import type { TargetOptions } from './target/target.ts';
import type { Streams } from './terminal.ts';

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** The words that start this command line; npm gives its script's name in the environment. */
function programStarted({ npm_lifecycle_event: script }: EnvironmentVariables): string {
  return script === 'ops' ? 'npm run ops --' : 'npx certification-notifier';
}

/** The place of later commands: the same program, deployment, account and region. */
export function placeOf(
  { stack = '', local, region, profile }: TargetOptions,
  { environment }: Pick<OpsHost, 'environment'>,
  integration?: string,
): CommandPlace {
  const where = Object.entries({ region, profile }).map(([name, value]) =>
    value === undefined ? '' : ` --${name} ${shellQuoted(value)}`,
  );
  return {
    at: local ? '--local' : `--stack ${shellQuoted(stack)}${where.join('')}`,
    program: programStarted(environment),
    integration: integration && shellQuoted(integration),
  };
}

export interface ProcessHost {
  readonly streams: Streams;
  readonly environment: EnvironmentVariables;
  /** As Node names it. */
  readonly timeZone: string;
  /** Aborted by a signal that ends the program; also by the program itself, once nobody reads its output. */
  readonly stopping: AbortController;
}

/** Everything that the program takes from outside. A test replaces the parts of the process. */
export interface OpsHost extends ProcessHost {
  readonly clock: Clock;
  /** The endpoint and the credentials of a service of AWS. @param asked the options of the command line */
  readonly aws: (service: AwsService, asked: AskedOfAws) => ClientSettings;
  /** Answers the question before a change. Absent: the terminal asks the user. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** Called before each command that changes something; an error that it throws prevents the command. */
  readonly beforeChange?: (command: Command) => void;
}

export interface AskedOfAws {
  readonly region?: string | undefined;
  readonly profile?: string | undefined;
}

/** The SDK finds omitted settings in the environment and the AWS files of this process. */
const foundBySdk: OpsHost['aws'] = (_service, { region, profile }) => ({
  ...(region !== undefined && { region }),
  ...(profile !== undefined && { profile }),
});

export type HostInput = ProcessHost & Partial<OpsHost>;

export function hostOf(input: HostInput): OpsHost {
  return { clock: systemClock, aws: foundBySdk, ...input };
}
