import { readFile } from 'node:fs/promises';
import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import { type IntegrationConfig, type NotifierConfig, parseConfig } from '../infra/config.ts';
import { ConfigError } from '../infra/config-error.ts';
import { StartError } from './errors.ts';
import type { Flags } from './flags.ts';
import { startPartnerSandbox } from './partner-sandbox/index.ts';

const credentialsSchema = z.object({
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
});

export type Credentials = z.infer<typeof credentialsSchema>;

/** Whom the function asks: the sandbox, or a real partner's host. */
export interface PartnerHost {
  readonly url: string;
  readonly credentials: Credentials;
  readonly isSandbox: boolean;
  /** Seconds from one tick to the next, unless the flags say otherwise: a real host is spared. */
  readonly every: number;
  close(): Promise<void>;
}

/** In the sandbox somebody completes an assessment this often. */
export const certifyEveryMs = 2000;

/**
 * The integration to watch: the first one configured, at the host that the flags name.
 *
 * @throws StartError when the flags name an impossible one
 */
export function watchedIntegration(
  { integrations: [first] }: NotifierConfig,
  { baseUrl = first?.baseUrl, timeZone = first?.timeZone }: Flags,
): IntegrationConfig {
  try {
    const [watched] = parseConfig({ integrations: [{ ...first, baseUrl, timeZone }] }).integrations;
    if (watched) return watched;
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    const problems = cause.problems.join('; ');
    throw new StartError(`That host cannot be watched: ${problems}.`, 'Correct the flags.', {
      cause,
    });
  }
  throw new StartError('No integration is configured.', 'Add one to notifier.config.ts.');
}

/** @throws StartError for a file without credentials, PortTakenError */
export async function partnerHost(
  { credentials, port, records, seed }: Flags,
  { baseUrl, timeZone, every }: IntegrationConfig,
): Promise<PartnerHost> {
  if (credentials !== undefined) {
    return {
      url: baseUrl,
      credentials: await readCredentials(credentials),
      isSandbox: false,
      every: every * 60,
      close: async () => {},
    };
  }
  const sandbox = await startPartnerSandbox({
    port,
    records,
    seed,
    timeZone,
    // Yesterday, so that the recent window is not empty when the program starts.
    until: Temporal.Now.plainDateISO(timeZone).subtract({ days: 1 }).toString(),
    certifyEvery: certifyEveryMs,
  });
  const { clientId, clientSecret } = sandbox.credentials;
  return {
    url: sandbox.url,
    credentials: { client_id: clientId, client_secret: clientSecret },
    isSandbox: true,
    every: 3,
    close: () => sandbox.close(),
  };
}

/** Says which file and what is missing in it; never what is in it. @throws StartError */
async function readCredentials(file: string): Promise<Credentials> {
  const expected = 'It has to be JSON: {"client_id": "…", "client_secret": "…"}.';
  const content = await readFile(file, 'utf8').catch((cause) => {
    throw new StartError(
      `The credentials file ${file} cannot be read (${Object(cause).code}).`,
      expected,
      { cause },
    );
  });
  const parsed = credentialsSchema.safeParse(jsonOrNothing(content));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    ({ path, code }) => `${path.join('.') || 'file'} ${code}`,
  );
  throw new StartError(
    `The credentials file ${file} holds no credentials (${problems.join(', ')}).`,
    expected,
  );
}

function jsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's message quotes the text it could not read, which may be a secret.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
