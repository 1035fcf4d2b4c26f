import { DescribeKeyCommand, GetKeyPolicyCommand, type KMSClient } from '@aws-sdk/client-kms';
import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { denialOf } from '../access-denied.ts';
import { urlOf } from './sqs-announcer.ts';

/** The state of a key and its policy, as JSON. @throws Denial */
export async function topicKeyOf(client: KMSClient, KeyId: string) {
  const denied = (action: string) => (error: unknown) => {
    throw denialOf(error, { action, resource: KeyId }) ?? error;
  };
  const { KeyMetadata } = await client
    .send(new DescribeKeyCommand({ KeyId }))
    .catch(denied('kms:DescribeKey'));
  // This call takes no alias.
  const { Policy = '' } = await client
    .send(new GetKeyPolicyCommand({ KeyId: KeyMetadata?.Arn ?? KeyId, PolicyName: 'default' }))
    .catch(denied('kms:GetKeyPolicy'));
  return { state: KeyMetadata?.KeyState ?? 'unknown', policy: Policy };
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
