import { GetKeyPolicyCommand, type KMSClient } from '@aws-sdk/client-kms';
import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { denialOf } from '../access-denied.ts';
import { urlOf } from './sqs-announcer.ts';

/** The policy of a key, as JSON. @throws Denial */
export async function keyPolicyOf(client: KMSClient, KeyId: string): Promise<string> {
  const asked = { action: 'kms:GetKeyPolicy', resource: KeyId };
  const { Policy = '' } = await client.send(new GetKeyPolicyCommand({ KeyId })).catch((error) => {
    throw denialOf(error, asked) ?? error;
  });
  return Policy;
}

/** The key that encrypts a queue; absent: one of SQS's own. @throws Denial, QueueUnreachableError */
export async function queueKeyOf(client: SQSClient, arn: string): Promise<string | undefined> {
  const QueueUrl = await urlOf(client, arn);
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['KmsMasterKeyId'] });
  const { Attributes } = await client.send(command).catch((error) => {
    throw denialOf(error, { action: 'sqs:GetQueueAttributes', resource: arn }) ?? error;
  });
  return Attributes?.KmsMasterKeyId;
}
