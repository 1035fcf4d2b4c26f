import {
  CreateSecretCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import type { EmbeddedAws } from './aws/index.ts';
import type { Credentials } from './partner-host.ts';

/**
 * Fills the secret as ops would after a deployment.
 *
 * @param secretId ARN of the stack's own secret, or name of one that ops keep outside the stack and
 *   that has to be made here
 */
export async function storeCredentials(
  aws: EmbeddedAws,
  secretId: string,
  credentials: Credentials,
): Promise<void> {
  const client = new SecretsManagerClient(aws.clientConfig('secretsManager'));
  const SecretString = JSON.stringify(credentials);
  try {
    await client.send(new PutSecretValueCommand({ SecretId: secretId, SecretString }));
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    await client.send(new CreateSecretCommand({ Name: secretId, SecretString }));
  } finally {
    client.destroy();
  }
}
