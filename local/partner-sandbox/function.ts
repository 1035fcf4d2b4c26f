import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { systemClock } from '../../lambda/clock.ts';
import { Api } from './api.ts';
import { seededRandom } from './random.ts';
import { scheduledWorld, scheduledWorldSchema } from './scheduled-world.ts';
import { defaultSwitches } from './switches.ts';
import { TokenIssuer } from './token-issuer.ts';
import { writeAnswer } from './transport.ts';

// The partner sandbox as a Lambda function behind a URL of its own
// (docs/decisions/0027-a-demo-that-keeps-no-state.md). Each
// execution environment makes the same world from the clock and the seed, and tokens are signed: nothing is stored.

/** The function's settings; infra/constructs/demo-sandbox.ts writes them. */
const environmentSchema = z.object({
  SANDBOX: z
    .string()
    .transform((text) => JSON.parse(text))
    .pipe(scheduledWorldSchema),
  /** The ARN of the secret that the notifier reads, too. */
  SANDBOX_SECRET: z.string(),
});

/** The used parts of a function URL's request (payload version 2.0). */
interface UrlRequest {
  readonly rawPath: string;
  readonly rawQueryString: string;
  /** The names are in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isBase64Encoded: boolean;
  readonly requestContext: { readonly http: { readonly method: string } };
}

interface UrlResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const credentialsSchema = z.object({ client_id: z.string(), client_secret: z.string() });

async function start() {
  const { SANDBOX: options, SANDBOX_SECRET: SecretId } = environmentSchema.parse(process.env);
  const { world, life } = scheduledWorld(options, systemClock);
  const client = new SecretsManagerClient();
  const { SecretString = '' } = await client.send(new GetSecretValueCommand({ SecretId }));
  const { client_id, client_secret } = credentialsSchema.parse(JSON.parse(SecretString));
  const access = new TokenIssuer(options.seed, {
    clientId: client_id,
    clientSecret: client_secret,
  });
  const random = seededRandom(options.seed, 'replica');
  const parts = { world, life, clock: systemClock, random, access };
  return { options, api: new Api(parts, defaultSwitches) };
}

let started: ReturnType<typeof start> | undefined;

export async function handler(request: UrlRequest): Promise<UrlResponse> {
  // The next request repeats a failed start, for instance while the secret does not exist yet.
  started ??= start().catch((error) => {
    started = undefined;
    throw error;
  });
  const { options, api } = await started;
  const { rawPath, rawQueryString, headers, body = '', isBase64Encoded } = request;
  const { method } = request.requestContext.http;
  const answer =
    method === 'GET' && rawPath === '/timetable'
      ? { status: 200, body: { ...options, now: systemClock.now().epochMilliseconds } }
      : api.answer({
          method,
          path: rawPath,
          params: new URLSearchParams(rawQueryString),
          authorization: headers.authorization,
          contentType: headers['content-type'],
          body: isBase64Encoded ? Buffer.from(body, 'base64').toString('utf8') : body,
        });
  const { status, headers: answered, text } = writeAnswer(answer);
  return { statusCode: status, headers: answered, body: text };
}
