import { describe, expect, it } from 'vitest';
import { table, template } from './constructs/two-districts.ts';
import { at, district, listAt, synthesized } from './synthesized.ts';

const resources = (input: object) => synthesized(input).toJSON().Resources ?? {};

describe('a resource that outlives the stack', () => {
  it.each([
    [undefined, []],
    ['archive', ['AWS::S3::Bucket']],
  ])(
    'is the ledger, a secret, the key, or the bucket of an %s, as the description says',
    (protocol, more) => {
      const built = protocol
        ? synthesized({ integrations: [district], subscriptions: [{ topic: 'events', protocol }] })
        : template;
      expect(at(built.toJSON(), 'Description')).toContain(
        'Deleting it keeps the ledger, the secrets, the key and the archive.',
      );
      const kept = Object.values(built.toJSON().Resources ?? {})
        .filter((resource) => String(at(resource, 'DeletionPolicy')).startsWith('Retain'))
        .map((resource) => at(resource, 'Type'));
      expect(kept.toSorted()).toEqual([
        'AWS::DynamoDB::GlobalTable',
        'AWS::KMS::Key',
        ...more,
        'AWS::SecretsManager::Secret',
      ]);
    },
  );

  it.each<[string, object]>([
    [
      'another integration before it',
      { integrations: [{ ...district, name: 'district-0' }, district] },
    ],
    ['a state machine', { integrations: [{ ...district, baseline: 'fan-out' }] }],
    [
      'another host, zone and pace',
      {
        integrations: [
          { ...district, timeZone: 'UTC', baseUrl: 'https://other.example.org', every: 5 },
        ],
      },
    ],
    ['a FIFO topic', { topic: 'fifo' }],
    [
      'a key of ours',
      { keyArn: 'arn:aws:kms:us-east-1:111122223333:key/mrk-0123456789abcdef0123456789abcdef' },
    ],
    ['a boundary', { permissionsBoundary: 'boundary' }],
    ['no dashboard', { dashboard: false }],
  ])('stays unchanged when the next deployment has %s', (_what, change) => {
    const before = resources({ integrations: [district] });
    const after = resources({ integrations: [district], ...change });
    const lasting = [table.id, 'NotifierdistrictaSecret721C3F3C'];
    for (const id of lasting) {
      expect(before[id]).toBeDefined();
      expect(after[id]).toEqual(before[id]);
    }
  });

  it('stays unchanged except for tags when the next deployment has tags: the ledger has its own', () => {
    const before = resources({ integrations: [district] });
    const after = resources({
      integrations: [district],
      tags: { team: 'certification', stage: 'production' },
    });
    const [replica, ...others] = listAt(before[table.id], 'Properties', 'Replicas');
    expect(others).toEqual([]);
    expect(replica).not.toHaveProperty('Tags');
    const Tags = [
      { Key: 'stage', Value: 'production' },
      { Key: 'team', Value: 'certification' },
    ];
    expect(after[table.id]).toEqual({
      ...before[table.id],
      Properties: {
        ...Object(at(before[table.id], 'Properties')),
        Replicas: [{ ...Object(replica), Tags }],
      },
    });
    // All others have the stack's tags, which are not in the template.
    expect({ ...after, [table.id]: undefined }).toEqual({ ...before, [table.id]: undefined });
  });
});

const districts = { integrations: [district, { ...district, name: 'district-b' }] };
const plain = synthesized(districts);
const bounded = synthesized({ ...districts, permissionsBoundary: 'boundary' });

describe('a permissions boundary', () => {
  const boundaries = (template: typeof plain) =>
    Object.values(template.findResources('AWS::IAM::Role')).map((role) =>
      JSON.stringify(at(role, 'Properties', 'PermissionsBoundary')),
    );

  it('is set on each role, by name in the account of the deployment', () => {
    expect(boundaries(bounded)).toHaveLength(5);
    for (const boundary of boundaries(bounded)) {
      expect(boundary).toContain('AWS::AccountId');
      expect(boundary).toContain(':policy/boundary');
    }
  });

  it('may be an ARN', () => {
    const arn = 'arn:aws:iam::111122223333:policy/teams/boundary';
    const template = synthesized({ integrations: [district], permissionsBoundary: arn });
    expect(new Set(boundaries(template))).toEqual(new Set([JSON.stringify(arn)]));
  });

  it('is on no role when none is configured', () => {
    expect(new Set(boundaries(plain))).toEqual(new Set([undefined]));
  });
});
