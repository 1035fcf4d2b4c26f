import {
  GetSecretValueCommand,
  InvalidRequestException,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod/mini';
import { denialOf } from '../access-denied.ts';
import { noticed } from '../condition-table.ts';
import { inEnglish, problemsOf } from '../english.ts';
import { errorOf } from '../errors.ts';
import { jsonText } from '../json-text.ts';
import type { CredentialSource, Credentials } from './token.ts';

/** The current value of a secret; undefined: it holds no text. */
export type SecretReader = (secretId: string) => Promise<string | undefined>;

/** The secret is blank, as the stack creates it: nobody has stored the credentials yet. */
export class CredentialsNotSetError extends errorOf('credentials-not-set', 'ops') {
  override readonly reach = 'access';
  readonly whatToDo = noticed['credentials-not-set'].toDo;

  constructor(secretId: string) {
    super(`The secret ${secretId} holds no credentials yet.`);
  }
}

/**
 * Secrets Manager has no value of the secret: it was deleted, is marked for deletion, or was made
 * without a value, which the stack never does. Only its text tells these apart.
 */
export class SecretGoneError extends errorOf('secret-gone', 'ops') {
  override readonly reach = 'access';
  readonly whatToDo = noticed['secret-gone'].toDo;

  constructor(secretId: string, options: ErrorOptions) {
    super(`The secret ${secretId} does not exist, or is marked for deletion.`, options);
  }
}

/** The secret's value is not the JSON that is expected. */
export class CredentialsMalformedError extends errorOf('credentials-malformed', 'ops') {
  override readonly reach = 'access';
  readonly whatToDo = noticed['credentials-malformed'].toDo;

  /** @param problems paths, each with its problem; never a value */
  constructor(secretId: string, problems: readonly string[]) {
    super(`The secret ${secretId} does not hold credentials: ${problems.join('; ')}.`);
  }
}

/** Secrets Manager did not return the value, or denied it. Its SDK has retried by then. */
export class SecretUnreadableError extends errorOf('secret-unreadable', 'aws', 'retry-helps') {
  override readonly reach = 'access';
  override readonly retryHelps: boolean;
  readonly whatToDo: string;

  constructor(secretId: string, options: ErrorOptions) {
    const asked = { action: 'secretsmanager:GetSecretValue', resource: `the secret ${secretId}` };
    const denial = denialOf(options.cause, asked);
    const why = denial === undefined ? '.' : `: ${denial.message}`;
    super(`The secret ${secretId} could not be read${why}`, options);
    this.retryHelps = denial === undefined;
    this.whatToDo = denial?.whatToDo ?? noticed['secret-unreadable'].toDo;
  }
}

const secretSchema = z.pipe(
  jsonText,
  // Blanks come with copying; the partner issues none.
  z.looseObject({
    client_id: z.string().check(z.trim()),
    client_secret: z.string().check(z.trim()),
  }),
);

/**
 * Credentials that a secret holds as JSON, `{"client_id", "client_secret"}`. They stay in memory
 * until they are asked for afresh.
 */
export function secretCredentials(secretId: string, read: SecretReader): CredentialSource {
  let cached: Credentials | undefined;
  return async ({ afresh = false } = {}) => {
    if (cached && !afresh) return cached;
    cached = parseSecret(secretId, await read(secretId));
    return cached;
  };
}

/** @throws SecretGoneError, SecretUnreadableError */
export function secretsManagerReader(client: SecretsManagerClient): SecretReader {
  return async (secretId) => {
    try {
      const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secretId }));
      return SecretString;
    } catch (error) {
      if (error instanceof ResourceNotFoundException || error instanceof InvalidRequestException)
        throw new SecretGoneError(secretId, { cause: error });
      throw new SecretUnreadableError(secretId, { cause: error });
    }
  };
}

function parseSecret(secretId: string, text = ''): Credentials {
  if (text.trim() === '') throw new CredentialsNotSetError(secretId);
  const { data, error } = secretSchema.safeParse(text, inEnglish);
  if (error !== undefined) throw new CredentialsMalformedError(secretId, problemsOf(error));
  // The stack creates the secret with blanks.
  if (data.client_id === '' || data.client_secret === '')
    throw new CredentialsNotSetError(secretId);
  return { clientId: data.client_id, clientSecret: data.client_secret };
}
