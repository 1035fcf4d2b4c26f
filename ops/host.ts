import { type Clock, systemClock } from '../lambda/clock.ts';
import type { Command } from '../lambda/operations/contract.ts';
import type { ClientSettings, Service } from './target/access.ts';
import type { Streams } from './terminal.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** How this command line was started: npm names the script. */
export function programStarted({ npm_lifecycle_event: script }: Environment): string {
  return script === 'ops' ? 'npm run ops --' : 'npx certification-notifier';
}

/** What a process has. */
export interface ProcessHost {
  readonly streams: Streams;
  readonly environment: Environment;
  /** As Node names it. */
  readonly timeZone: string;
  /**
   * Aborts when somebody wants the program to end. The program aborts it when nobody reads its output
   * any longer.
   */
  readonly stopping: AbortController;
}

/** Everything that the program takes from outside: a process hands over its own, a test something else. */
export interface Host extends ProcessHost {
  readonly clock: Clock;
  /** Where a service of AWS is, and who asks it. @param asked by options of the command line */
  readonly aws: (service: Service, asked: AskedOfAws) => ClientSettings;
  /** Answers what is asked before something is changed. Absent: whoever sits at the terminal does. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** Told of each command that changes something, before it is given: what it throws keeps it from that. */
  readonly beforeChange?: (command: Command) => void;
}

export interface AskedOfAws {
  readonly region?: string | undefined;
  readonly profile?: string | undefined;
}

/** AWS's SDK finds by itself what is not asked for, in the environment and the files of this process. */
const foundBySdk: Host['aws'] = (_service, { region, profile }) => ({
  ...(region !== undefined && { region }),
  ...(profile !== undefined && { profile }),
});

export type HostInput = ProcessHost & Partial<Host>;

export function hostOf(input: HostInput): Host {
  return { clock: systemClock, aws: foundBySdk, ...input };
}
