import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { NotifierError } from '../../lambda/errors.ts';
import { createPartnerClient } from '../../lambda/partner/client.ts';
import { InterruptedError, OpsError, RetoldError, UsageError } from '../errors.ts';
import { exitCodeOf, exitCodes } from '../exit-codes.ts';
import { operationName } from '../following.ts';
import { opsCommand } from '../ops-command.ts';
import { count } from '../render/text.ts';
import type { Session } from '../session.ts';
import { type Access, calling } from '../target/access.ts';

const whatToGive = 'Give {"client_id": "…", "client_secret": "…"}, as the partner issued them.';

const notStored = 'Nothing was stored. status --history may show that it was begun.';

const partnerMs = 30_000;

/** The format of the secret, and of standard input. */
const credentialsSchema = z.object({
  client_id: z.string().trim().min(1),
  client_secret: z.string().trim().min(1),
});
type Credentials = z.output<typeof credentialsSchema>;

export const credentialsSet = opsCommand({
  of: 'credentials-stored',
  usage: 'credentials set',
  isFinal: true,
  permissions:
    "`secretsmanager:PutSecretValue` on the secret, `kms:GenerateDataKey` and `kms:Decrypt` where it has a key of its own, and a way to the partner's host",
  summary: "Stores the partner's credentials, once the partner has accepted them.",
  details:
    'Asks for them on a terminal, where the secret is not shown; otherwise reads {"client_id", "client_secret"} as JSON from standard input. Never from an argument, which others could see. The next tick uses them.',
  examples: [
    ['credentials set --stack prod --integration district-a', 'asks for both'],
    ['credentials set --stack prod --integration district-a < credentials.json', 'from a file'],
  ],
  reads: [
    { name: 'client_id', label: 'client ID' },
    { name: 'client_secret', label: 'client secret', isSecret: true },
  ],
  async run(session) {
    const client = await session.operateClient();
    const { access } = await session.target();
    const { settings } = await session.ask(client, 'status', { partner: false });
    const credentials = await read(session, client.integration.name);

    const total = await tried(session, settings, credentials);
    const recorded = { by: await session.by(), operation: operationName() };
    await session
      .ask(client, 'credentials-stored', { ...recorded, stored: false })
      .catch((error) => {
        throw error instanceof InterruptedError ? new InterruptedError(notStored) : error;
      });
    await store(access, client.integration.secret, credentials);
    try {
      await session.ask(client, 'credentials-stored', recorded);
    } catch (error) {
      throw error instanceof OpsError ? onlyStored(error) : error;
    }
    session.answer({ stored: true, total }, (view) => [
      `${view.paint('good', 'stored')}  The partner has accepted the credentials and shows ${count(total, 'assessment')}.`,
    ]);
    return exitCodes.fine;
  },
});

/** Takes no stop signal: after an interrupted call, nobody would know whether the credentials are stored. */
async function store(access: Access, SecretId: string, credentials: Credentials): Promise<void> {
  const secrets = access.clients.open(new SecretsManagerClient(access.settings('secretsManager')));
  const SecretString = JSON.stringify(credentials);
  const put = new PutSecretValueCommand({ SecretId, SecretString });
  await calling('secretsmanager:PutSecretValue', () => secrets.send(put));
}

async function read({ terminal, stop }: Session, integration: string): Promise<Credentials> {
  if (terminal.isAttended) {
    terminal.note([`Credentials of ${integration}, as the partner issued them:`]);
    const client_id = await terminal.ask('client ID: ', stop);
    return parsed({
      client_id,
      client_secret: await terminal.askSecretly('client secret: ', stop),
    });
  }
  const text = await terminal.standardInput(stop);
  try {
    return parsed(JSON.parse(text));
  } catch (error) {
    // No `cause`: the parser's error quotes the input, which holds the secret.
    if (error instanceof SyntaxError)
      throw new UsageError('Standard input holds no JSON.', whatToGive);
    throw error;
  }
}

/** @throws UsageError */
function parsed(value: unknown): Credentials {
  const credentials = credentialsSchema.safeParse(value);
  if (credentials.success) return credentials.data;
  throw new UsageError('The credentials lack the client ID or the client secret.', whatToGive);
}

/**
 * Gets a token and one assessment from the partner, so that only credentials that work are stored.
 *
 * @returns the partner's total
 * @throws RetoldError
 */
async function tried(
  session: Session,
  { baseUrl, tokenRequest }: { baseUrl: string; tokenRequest: 'form' | 'basic' | 'json' },
  { client_id: clientId, client_secret: clientSecret }: Credentials,
): Promise<number> {
  using _ = session.progress('asking the partner', partnerMs);
  const partner = createPartnerClient({
    baseUrl,
    tokenRequest,
    credentials: async () => ({ clientId, clientSecret }),
    clock: session.clock,
    limits: { attempts: 2, callMs: partnerMs },
  });
  try {
    const { meta } = await partner.list({ page: 1 }, { signal: session.stop });
    return meta.count;
  } catch (error) {
    if (session.stop.aborted) throw session.stop.reason;
    throw error instanceof NotifierError ? refused(error) : error;
  } finally {
    const closed = partner.close();
    // `close` waits for answers under way, so Ctrl-C does not await it.
    if (!session.stop.aborted) await closed;
  }
}

/** The partner has not accepted the credentials, or could not be asked. */
function refused(cause: NotifierError): RetoldError {
  const whatToDo = `Nothing was stored. ${cause.whatToDo}`;
  const exitCode = exitCodeOf(cause.code);
  return new RetoldError(cause.message, { ...cause, whatToDo, exitCode }, cause);
}

/** The credentials are stored, but the function could not be told. */
function onlyStored(cause: OpsError): RetoldError {
  const whatToDo =
    'The credentials are stored, and ticks use them. If the partner is left alone after refusals, that lasts up to an hour: run the command again to end it.';
  const told = { retryHelps: true, fault: 'ops', whatToDo, result: { stored: true } } as const;
  return new RetoldError(cause.message, { ...cause, ...told }, cause);
}
