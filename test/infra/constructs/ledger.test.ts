import { describe, expect, it } from 'vitest';
import { at } from '../synthesized.ts';
import { only, table } from './two-districts.ts';

describe('the ledger', () => {
  it('is on demand, encrypted, recoverable to a point in time, and protected from deletion', () => {
    expect(table.resource).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
        Replicas: [
          {
            DeletionProtectionEnabled: true,
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          },
        ],
      },
    });
  });

  it('has the key and the three indexes that the running code expects', () => {
    expect(at(table.resource, 'Properties')).toMatchObject({
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      AttributeDefinitions: expect.arrayContaining([
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'integration_day', AttributeType: 'S' },
        { AttributeName: 'assessment_id', AttributeType: 'N' },
        { AttributeName: 'undelivered', AttributeType: 'S' },
        { AttributeName: 'owed_since', AttributeType: 'S' },
        { AttributeName: 'last_event_month', AttributeType: 'S' },
        { AttributeName: 'last_event_at', AttributeType: 'S' },
      ]),
      GlobalSecondaryIndexes: [
        {
          IndexName: 'by-day',
          KeySchema: [
            { AttributeName: 'integration_day', KeyType: 'HASH' },
            { AttributeName: 'assessment_id', KeyType: 'RANGE' },
          ],
          Projection: {
            ProjectionType: 'INCLUDE',
            NonKeyAttributes: ['fingerprint', 'revision', 'presence'],
          },
        },
        {
          IndexName: 'undelivered',
          KeySchema: [
            { AttributeName: 'undelivered', KeyType: 'HASH' },
            { AttributeName: 'owed_since', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
        {
          IndexName: 'by-event',
          KeySchema: [
            { AttributeName: 'last_event_month', KeyType: 'HASH' },
            { AttributeName: 'last_event_at', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['revision'] },
        },
      ],
    });
  });

  it('and the secrets keep their logical ids: another id replaces them in each deployment', () => {
    expect(table.id).toBe('NotifierLedgerTableB61FFCC6');
    expect(only('AWS::SecretsManager::Secret').id).toBe('NotifierdistrictaSecret721C3F3C');
  });
});
