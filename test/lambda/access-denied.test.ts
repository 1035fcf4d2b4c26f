import { describe, expect, it } from 'vitest';
import { denialOf } from '../../lambda/access-denied.ts';
import { describeError } from '../../lambda/describe-error.ts';

const $metadata = { requestId: '0b3a1c52' };
const item = { action: 'dynamodb:UpdateItem', resource: 'the table ledger' };
const event = { action: 'sns:Publish', resource: 'arn:aws:sns:eu-central-1:1:events' };
const queued = { action: 'sqs:SendMessage', resource: 'the queue' };
const secret = { action: 'secretsmanager:GetSecretValue', resource: 'the secret' };

/** In the words of IAM. */
const iam = (action: string, rest: string) =>
  `User: arn:aws:sts::123456789012:assumed-role/poll/poll is not authorized to perform: ${action} on ${rest}`;
const noPolicy = iam(
  'a:Get',
  'resource: a:r because no resource-based policy allows the a:Get action',
);
const barred = iam('a:Get', 'resource: a:r with an explicit deny in a control policy: p-1');
const ofSns = iam('SNS:Publish', 'resource: arn:aws:sns:eu-central-1:1:events because');
const noKey = `KMS key access denied error: ${iam('kms:Decrypt', 'resource: arn:key/k-1')}`;
const vague = iam(
  'kms:GenerateDataKey',
  'this resource because the resource does not exist in this Region, no resource-based policies allow access, or a resource-based policy explicitly denies access',
);
const odd = 'No to Canary Featherstone: perform, on resource, because no, policy.';

const denied = 'AccessDeniedException';
const kms = 'KMSAccessDeniedException';
const both = 'kms:GenerateDataKey and kms:Decrypt';
const ofQueue = `${both} on the key of the queue`;

describe('a denial by AWS', () => {
  it.each([
    ['by a policy', denied, noPolicy, item, 'a:Get on a:r', ': no resource-based policy allows it'],
    ['by a rule', denied, barred, item, 'a:Get on a:r', ': an explicit deny in a control policy'],
    ['by SNS', 'AuthorizationErrorException', ofSns, event, `SNS:Publish on ${event.resource}`],
    ['of a key, by DynamoDB', denied, noKey, item, 'kms:Decrypt on arn:key/k-1'],
    ['of a key, of a secret', denied, 'No KMS.', secret, 'kms:Decrypt on the key of the secret'],
    ['of a key, by SNS', kms, 'Of a key.', event, `${both} on the key of ${event.resource}`],
    ['of a named action', kms, vague, event, `kms:GenerateDataKey on the key of ${event.resource}`],
    ['of an entry', 'KMS.AccessDeniedException', undefined, queued, ofQueue],
    ['of a key, by SQS', 'KmsAccessDenied', '', queued, ofQueue],
    ['in unknown words', denied, odd, item, 'dynamodb:UpdateItem on the table ledger'],
    ['without words', 'AccessDenied', '', item, 'dynamodb:UpdateItem on the table ledger'],
  ])('names action, resource and request: %s', (_, name, message, asked, what, why = '') => {
    const error = { name, message, $metadata };
    const denial = denialOf(error, asked);
    expect(denial).toMatchObject({
      message: `AWS denies ${what} (${name}, request 0b3a1c52)${why}.`,
      whatToDo: expect.stringContaining(what),
      ...{ fault: 'aws', retryHelps: false, cause: error },
    });
    expect(JSON.stringify(describeError(denial))).not.toContain('Canary');
  });

  it.each([
    ...['ResourceNotFoundException', 'NotFoundException', 'QueueDoesNotExist', 'KmsDisabled'],
    ...['KMSDisabledException', 'KMS.NotFoundException', 'KMSInvalidStateException'],
  ])('does not include a resource that is deleted or disabled: %s', (name) => {
    const found = denialOf({ name, message: 'Canary Featherstone' }, event);
    expect(found).toMatchObject({
      ...{ code: 'resource-unusable', fault: 'aws', retryHelps: false },
      message: `AWS cannot do sns:Publish on ${event.resource} (${name}, request unknown).`,
      whatToDo: expect.stringContaining('cdk deploy --revert-drift'),
    });
    expect(JSON.stringify(describeError(found))).not.toContain('Canary');
  });

  it('is recognized by its name, not by its text', () => {
    const message = iam('dynamodb:GetItem', 'resource: x');
    expect(denialOf({ name: 'ThrottlingException', message, $metadata }, item)).toBeUndefined();
    expect(denialOf('AccessDeniedException', item)).toBeUndefined();
  });
});
