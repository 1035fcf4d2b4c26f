import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { createPartnerClient } from '../../lambda/partner/client.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { opsCommand } from '../ops-command.ts';
import { count } from '../render/text.ts';
import type { Session } from '../session.ts';
import { calling } from '../target/access.ts';

const whatToGive = 'Give {"client_id": "…", "client_secret": "…"}, as the operator issued them.';

/** As the secret holds them, and as standard input is expected to. */
const credentialsSchema = z.object({
  client_id: z.string().trim().min(1),
  client_secret: z.string().trim().min(1),
});
type Credentials = z.output<typeof credentialsSchema>;

export const credentialsSet = opsCommand({
  usage: 'credentials set',
  summary: "Stores the partner's credentials, once the partner has accepted them.",
  details:
    'Asks for them on a terminal, where the secret is not shown; otherwise reads {"client_id", "client_secret"} as JSON from standard input. Never from an argument, which others could see. The next tick uses them.',
  examples: [
    ['credentials set --stack prod --integration district-a', 'asks for both'],
    ['credentials set --stack prod --integration district-a < credentials.json', 'from a file'],
  ],
  settings: z.object({}),
  async run(session) {
    const operator = await session.operator();
    const { access } = await session.target();
    const { settings } = await session.ask(operator, 'status', { partner: false });
    const credentials = await read(session, operator.integration.name);

    const total = await check(session, settings, credentials);
    const secrets = new SecretsManagerClient(access.client('secretsManager'));
    const put = new PutSecretValueCommand({
      SecretId: operator.integration.secret,
      SecretString: JSON.stringify(credentials),
    });
    await calling(
      'secretsmanager:PutSecretValue',
      () => secrets.send(put, { abortSignal: session.stop }),
      session.stop,
    );
    await session.ask(operator, 'credentials-stored', { by: await session.by() });
    session.answer({ stored: true, total }, (view) => [
      `${view.paint('good', 'stored')}  The partner has accepted the credentials and shows ${count(total, 'assessment')}.`,
    ]);
    return exitCodes.fine;
  },
});

async function read({ terminal, stop }: Session, integration: string): Promise<Credentials> {
  if (terminal.isAttended) {
    terminal.note([`Credentials of ${integration}, as the operator issued them:`]);
    const client_id = await terminal.ask('client ID: ', stop);
    return parsed({
      client_id,
      client_secret: await terminal.askSecretly('client secret: ', stop),
    });
  }
  const text = await terminal.standardInput();
  try {
    return parsed(JSON.parse(text));
  } catch (error) {
    // No cause: the parser's error quotes what it could not read.
    if (error instanceof SyntaxError)
      throw new UsageError('Standard input holds no JSON.', whatToGive);
    throw error;
  }
}

/** @throws UsageError */
function parsed(value: unknown): Credentials {
  const credentials = credentialsSchema.safeParse(value);
  if (credentials.success) return credentials.data;
  throw new UsageError(
    'These are no credentials: client ID or client secret is missing.',
    whatToGive,
  );
}

/**
 * Has the partner issue a token, and asks for one assessment with it: nothing is stored that does not
 * work.
 *
 * @returns the partner's total
 * @throws PartnerError
 */
async function check(
  session: Session,
  { baseUrl, tokenRequest }: { baseUrl: string; tokenRequest: 'form' | 'basic' | 'json' },
  { client_id: clientId, client_secret: clientSecret }: Credentials,
): Promise<number> {
  using _ = session.progress('asking the partner');
  const client = createPartnerClient({
    baseUrl,
    tokenRequest,
    credentials: async () => ({ clientId, clientSecret }),
    limits: { attempts: 2, callMs: 30_000 },
  });
  try {
    const { meta } = await client.list({ page: 1 }, { signal: session.stop });
    return meta.count;
  } finally {
    await client.close();
  }
}
