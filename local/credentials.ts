import {
  CreateSecretCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import type { EmbeddedAws } from './aws/index.ts';
import type { Credentials } from './partner-host.ts';

/**
 * Stores the credentials as ops would after a deployment.
 *
 * @param secretId the ARN of the stack's own secret, or the name of a secret outside of the stack, which is created
 * here
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
