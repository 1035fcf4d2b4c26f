import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { AuthorizationErrorException, KMSAccessDeniedException } from '@aws-sdk/client-sns';
import { KmsAccessDenied } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { denialOf } from '../../lambda/access-denied.ts';
import { describeError } from '../../lambda/describe-error.ts';

const asked = { action: 'dynamodb:UpdateItem', resource: 'the table ledger' };
const publishing = { action: 'sns:Publish', resource: 'arn:aws:sns:eu-central-1:1:events' };
const $metadata = { requestId: '0b3a1c52' };
const role = 'User: arn:aws:sts::123456789012:assumed-role/poll/poll';

/** A denial in the words of DynamoDB and Secrets Manager. */
const denied = (message: string) =>
  new DynamoDBServiceException({
    name: 'AccessDeniedException',
    $fault: 'client',
    message,
    $metadata,
  });

describe('a denial by AWS', () => {
  it.each([
    [
      'as IAM words it',
      denied(
        `${role} is not authorized to perform: dynamodb:Query on resource: arn:aws:dynamodb:eu-central-1:123456789012:table/ledger/index/undelivered because no identity-based policy allows the dynamodb:Query action`,
      ),
      asked,
      'AWS denies dynamodb:Query on arn:aws:dynamodb:eu-central-1:123456789012:table/ledger/index/undelivered (AccessDeniedException, request 0b3a1c52): no identity-based policy allows it.',
    ],
    [
      'by the organization',
      denied(
        `${role} is not authorized to perform: dynamodb:GetItem on resource: arn:aws:dynamodb:eu-central-1:123456789012:table/ledger with an explicit deny in a service control policy: arn:aws:organizations::1:policy/o-1/p-1`,
      ),
      asked,
      'AWS denies dynamodb:GetItem on arn:aws:dynamodb:eu-central-1:123456789012:table/ledger (AccessDeniedException, request 0b3a1c52): an explicit deny in a service control policy.',
    ],
    [
      'by SNS',
      new AuthorizationErrorException({
        message: `${role} is not authorized to perform: SNS:Publish on resource: arn:aws:sns:eu-central-1:1:events because no resource-based policy allows the SNS:Publish action`,
        $metadata,
      }),
      publishing,
      'AWS denies SNS:Publish on arn:aws:sns:eu-central-1:1:events (AuthorizationErrorException, request 0b3a1c52): no resource-based policy allows it.',
    ],
    [
      'of a key that DynamoDB was to use',
      denied(
        `KMS key access denied error: ${role} is not authorized to perform: kms:Decrypt on resource: arn:aws:kms:eu-central-1:1:key/k-1 because no resource-based policy allows the kms:Decrypt action`,
      ),
      asked,
      'AWS denies kms:Decrypt on arn:aws:kms:eu-central-1:1:key/k-1 (AccessDeniedException, request 0b3a1c52): no resource-based policy allows it.',
    ],
    [
      'of a key, by Secrets Manager, which names neither action nor key',
      denied('Access to KMS is not allowed'),
      { action: 'secretsmanager:GetSecretValue', resource: 'the secret partner' },
      'AWS denies kms:Decrypt on the key of the secret partner (AccessDeniedException, request 0b3a1c52).',
    ],
    [
      'of a key, by SNS',
      new KMSAccessDeniedException({
        message: 'The ciphertext refers to a key that you are not allowed to access.',
        $metadata,
      }),
      publishing,
      'AWS denies kms:GenerateDataKey and kms:Decrypt on the key of arn:aws:sns:eu-central-1:1:events (KMSAccessDeniedException, request 0b3a1c52).',
    ],
    [
      'of a key, by SNS, which names the action alone',
      new KMSAccessDeniedException({
        message: `${role} is not authorized to perform: kms:GenerateDataKey on this resource because the resource does not exist in this Region, no resource-based policies allow access, or a resource-based policy explicitly denies access`,
        $metadata,
      }),
      publishing,
      'AWS denies kms:GenerateDataKey on the key of arn:aws:sns:eu-central-1:1:events (KMSAccessDeniedException, request 0b3a1c52).',
    ],
    [
      'of a key, for one entry of a batch of SQS',
      { name: 'KMS.AccessDeniedException', message: undefined, $metadata },
      { action: 'sqs:SendMessage', resource: 'the queue' },
      'AWS denies kms:GenerateDataKey and kms:Decrypt on the key of the queue (KMS.AccessDeniedException, request 0b3a1c52).',
    ],
    [
      'of a key, by SQS',
      new KmsAccessDenied({ message: '', $metadata: {} }),
      { action: 'sqs:SendMessage', resource: 'arn:aws:sqs:eu-central-1:1:payroll' },
      'AWS denies kms:GenerateDataKey and kms:Decrypt on the key of arn:aws:sqs:eu-central-1:1:payroll (KmsAccessDenied, request unknown).',
    ],
    [
      'in unknown words',
      denied('Computer says no to Canary Featherstone: perform, on resource, because no, policy.'),
      asked,
      'AWS denies dynamodb:UpdateItem on the table ledger (AccessDeniedException, request 0b3a1c52).',
    ],
    [
      'without words',
      Object.assign(new Error(), { name: 'AccessDenied' }),
      asked,
      'AWS denies dynamodb:UpdateItem on the table ledger (AccessDenied, request unknown).',
    ],
  ])('is told with its action, resource and request: %s', (_, error, what, message) => {
    const denial = denialOf(error, what);
    expect(denial?.message).toBe(message);
    expect(denial).toMatchObject({ fault: 'aws', retryHelps: false, cause: error });
    const [, action = '', resource = ''] =
      /denies (.*?) on (\S+|the [\w ]+?) \(/.exec(message) ?? [];
    expect(denial?.whatToDo).toContain(`${action} on ${resource}`);
    expect(JSON.stringify(describeError(denial))).not.toContain('Canary');
  });

  it.each([
    'ResourceNotFoundException',
    'NotFoundException',
    'QueueDoesNotExist',
    'KMSDisabledException',
    'KmsDisabled',
    'KMS.NotFoundException',
    'KMSInvalidStateException',
    'InvalidRequestException',
  ])(
    'does not include a resource that is deleted or disabled (%s), which needs people all the same',
    (name) => {
      const error = Object.assign(new Error('Canary Featherstone'), { name, $metadata });
      const found = denialOf(error, publishing);
      expect(found).toMatchObject({ code: 'resource-unusable', fault: 'aws', retryHelps: false });
      expect(found?.message).toBe(
        `AWS cannot do sns:Publish on ${publishing.resource} (${name}, request 0b3a1c52).`,
      );
      expect(found?.whatToDo).toContain('cdk deploy --revert-drift');
      expect(JSON.stringify(describeError(found))).not.toContain('Canary');
    },
  );

  it('is recognized by its name, not by its text', () => {
    const message = `${role} is not authorized to perform: dynamodb:GetItem on resource: x`;
    const throttled = new DynamoDBServiceException({
      name: 'ThrottlingException',
      $fault: 'client',
      message,
      $metadata,
    });
    expect(denialOf(throttled, asked)).toBeUndefined();
    expect(denialOf('AccessDeniedException', asked)).toBeUndefined();
  });
});
