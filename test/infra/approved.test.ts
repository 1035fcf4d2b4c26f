import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readable } from './readable.ts';
import { district, synthesized } from './synthesized.ts';

const configurations = {
  smallest: { integrations: [district] },
  everything: {
    integrations: [
      {
        ...district,
        baseline: { atOnce: 8 },
        secretName: 'partner/district-a',
        secretKeyArn: `arn:aws:kms:us-east-1:111122223333:key/mrk-${'0'.repeat(32)}`,
      },
    ],
    topic: 'fifo',
    subscriptions: [
      {
        topic: 'events',
        protocol: 'sqs',
        endpoint: { newQueue: 'payroll', readers: ['arn:aws:iam::111122223333:role/payroll'] },
        raw: true,
        filter: {
          types: ['created', 'restored'],
          organizations: [7, 8],
          assessments: ['Rope Bridge Safety'],
          integrations: ['district-a'],
          late: false,
        },
      },
      {
        topic: 'events',
        protocol: 'sqs',
        endpoint: 'arn:aws:sqs:us-east-1:111122223333:certifications',
      },
      {
        topic: 'events',
        protocol: 'event-bus',
        bus: 'certifications',
        filter: { types: ['created'] },
      },
      { topic: 'events', protocol: 'archive', keepDays: 400 },
      { topic: 'alerts', protocol: 'slack', workspace: 'T0123WXYZ', channel: 'C0123WXYZ' },
      { topic: 'operations', protocol: 'slack', workspace: 'T0123WXYZ', channel: 'C0123WXYZ' },
      { topic: 'alerts', protocol: 'email', endpoint: 'office@district-a.example.org' },
      { topic: 'alerts', protocol: 'https', endpoint: 'https://hook.example.org/x' },
      {
        topic: 'operations',
        protocol: 'lambda',
        endpoint: 'arn:aws:lambda:us-east-1:111122223333:function:watch',
      },
    ],
    subscriberAccounts: ['444455556666'],
    pagerTopicArn: 'arn:aws:sns:us-east-1:111122223333:pager',
    runbookUrl: 'https://wiki.example.org/notifier/operations',
    permissionsBoundary: 'boundary',
    logRetentionDays: 7,
    dashboard: false,
    tags: { team: 'certification' },
  },
} as const;

/** After an intended change: `npx vitest run test/infra/approved.test.ts -u`, and read the difference. */
describe.each(['smallest', 'everything'] as const)(
  'the template of the configuration: %s',
  (name) => {
    const template = synthesized(configurations[name]).toJSON();
    const text = readable(template);

    it('equals the approved one', async () => {
      const file = fileURLToPath(new URL(`approved/${name}.yaml`, import.meta.url));
      await expect(text).toMatchFileSnapshot(file);
    });

    // Hashes of addresses stay: another one would be another subscription in each deployment.
    it('has no hash of code, so it is the same for any code', () => {
      expect(JSON.stringify(template)).toMatch(/"S3Key":"[0-9a-f]{64}/);
      const runs = [...text.matchAll(/[0-9a-f]{8,}/gi)].map(([run]) => run);
      const account = /1{4}2{4}3{4}/;
      const addresses = ['office@district-a.example.org', 'https://hook.example.org/x'].map(
        (address) => createHash('sha256').update(address).digest('hex').slice(0, 10),
      );
      expect(
        runs.filter(
          (run) =>
            /\d/.test(run) &&
            /[a-f]/i.test(run) &&
            !account.test(run) &&
            !addresses.some((address) => run.includes(address)),
        ),
      ).toEqual([]);
    });
  },
);
