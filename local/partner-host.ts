import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { type IntegrationConfig, type NotifierConfig, parseConfig } from '../infra/config.ts';
import { type Clock, systemClock } from '../lambda/clock.ts';
import { StartError } from './errors.ts';
import type { StartFlags } from './flags.ts';
import type { PartnerSandbox } from './partner-sandbox/index.ts';

const text = (name: string) => {
  const error = `${name} is not a text, or is empty`;
  return z.string({ error }).trim().min(1, { error });
};
const credentialsSchema = z.object(
  { client_id: text('client_id'), client_secret: text('client_secret') },
  { error: 'it is not a JSON object' },
);

export type Credentials = z.infer<typeof credentialsSchema>;

/** The partner's host: the sandbox, a real host, or a function of the stack. */
interface WatchedHost {
  /** Absent: the stack has the URL. */
  readonly url?: string;
  /** Absent: the stack has filled the secret. */
  readonly credentials?: Credentials;
  /** Absent: the partner is a real one, or the stack's own. */
  readonly sandbox?: PartnerSandbox;
  /** Seconds between two ticks, unless the flags say otherwise. A real host is asked less often. */
  readonly every: number;
  close(): Promise<void>;
}

export interface PartnerHost extends WatchedHost {
  readonly url: string;
  readonly credentials: Credentials;
}

/** The host of the demo (infra/demo.ts). */
export const hostOfTheStack: WatchedHost = { every: 3, close: async () => {} };

/** The time between two completed assessments in the sandbox. */
export const certifyEveryMs = 2000;

/** An integration of this machine, with its partner's host. */
export interface Watched {
  readonly integration: IntegrationConfig;
  readonly host: WatchedHost;
}

/** All configured integrations, with an invented partner each; for a real host, only the first. */
export function watchedIntegrations(
  config: NotifierConfig,
  flags: StartFlags,
): readonly IntegrationConfig[] {
  return flags.baseUrl === undefined ? config.integrations : [watchedIntegration(config, flags)];
}

/** @param index gives each of several sandboxes other people */
export function flagsFor(flags: StartFlags, index: number): StartFlags {
  return { ...flags, seed: flags.seed + index };
}

/**
 * The first configured integration, at the host of the flags.
 *
 * @throws ConfigError
 */
export function watchedIntegration(
  { integrations: [first] }: NotifierConfig,
  { baseUrl = first?.baseUrl, timeZone = first?.timeZone }: StartFlags,
): IntegrationConfig {
  const [watched] = parseConfig({ integrations: [{ ...first, baseUrl, timeZone }] }).integrations;
  if (watched) return watched;
  throw new StartError('No integration is configured.', 'Add one to notifier.config.ts.');
}

/** @throws StartError for a file without credentials, PortTakenError */
export async function partnerHost(
  { credentials, records, seed }: StartFlags,
  { baseUrl, timeZone, every }: IntegrationConfig,
  { port = 0, clock = systemClock }: { readonly port?: number; readonly clock?: Clock } = {},
): Promise<PartnerHost> {
  if (credentials !== undefined) {
    return {
      url: baseUrl,
      credentials: await readCredentials(credentials),
      every: every * 60,
      close: async () => {},
    };
  }
  const { startPartnerSandbox } = await import('./partner-sandbox/index.ts');
  const sandbox = await startPartnerSandbox({
    port,
    records,
    seed,
    timeZone,
    // Yesterday, so that the recent window is not empty when the program starts.
    until: clock.now().toZonedDateTimeISO(timeZone).toPlainDate().subtract({ days: 1 }).toString(),
    certifyEvery: certifyEveryMs,
    clock,
  });
  const { clientId, clientSecret } = sandbox.credentials;
  return {
    url: sandbox.url,
    credentials: { client_id: clientId, client_secret: clientSecret },
    sandbox,
    every: 3,
    close: () => sandbox.close(),
  };
}

/** Errors name the file and the missing fields, but never a value. @throws StartError */
async function readCredentials(file: string): Promise<Credentials> {
  const expected = 'It has to be JSON: {"client_id": "…", "client_secret": "…"}.';
  const content = await readFile(file, 'utf8').catch((cause) => {
    const { code } = Object(cause);
    if (code === 'ENOENT')
      throw new StartError(
        `The credentials file ${file} is not found.`,
        `Check its name, or write it. ${expected}`,
        { cause },
      );
    throw new StartError(`The credentials file ${file} cannot be read (${code}).`, expected, {
      cause,
    });
  });
  const parsed = credentialsSchema.safeParse(jsonOrNothing(content.trim()));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ message }) => message);
  throw new StartError(
    `The credentials file ${file} holds no credentials (${problems.join(', ')}).`,
    expected,
  );
}

function jsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's message quotes the text, which may hold a secret.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
