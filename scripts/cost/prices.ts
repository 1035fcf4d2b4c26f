/** A list price: us-east-1, on demand, in dollars, before any free allowance. */
export interface Price {
  readonly dollars: number;
  readonly unit: string;
  readonly source: string;
}

const facts = 'known to the project, not looked up again';
const secondHand = (from: string) => `${from}, which cites AWS; not read at AWS itself`;
const cloudburn = secondHand('cloudburn.io, March 2026');

/** As of November 2026. If the source is not AWS, check the price before you rely on it. */
export const prices = {
  readUnits: { dollars: 0.125e-6, unit: 'read unit', source: facts },
  writeUnits: { dollars: 0.625e-6, unit: 'write unit', source: facts },
  stored: { dollars: 0.25, unit: 'GB of the table and its indexes, a month', source: facts },
  backedUp: { dollars: 0.2, unit: 'GB with point-in-time recovery, a month', source: facts },
  gigabyteSeconds: {
    dollars: 0.0000133334,
    unit: 'GB-second of an Arm function',
    source: secondHand('cloudchipr.com, "AWS Lambda Pricing"'),
  },
  invocations: {
    dollars: 0.2e-6,
    unit: 'invocation',
    source: secondHand('cloudchipr.com, "AWS Lambda Pricing"'),
  },
  schedulerInvocations: {
    dollars: 1e-6,
    unit: 'start by EventBridge Scheduler (14 million a month are free)',
    source: cloudburn,
  },
  published: {
    dollars: 0.5e-6,
    unit: 'message of up to 64 KB to a standard topic',
    source: secondHand('factualminds.com, June 2026'),
  },
  mails: {
    dollars: 2e-5,
    unit: 'mail',
    source: secondHand('factualminds.com, June 2026'),
  },
  logged: { dollars: 0.5, unit: 'GB of logs taken in', source: facts },
  metrics: {
    dollars: 0.3,
    unit: 'custom metric a month, by the hours in which it is sent',
    source: facts,
  },
  alarms: { dollars: 0.1, unit: 'metric of an alarm a month', source: facts },
  compositeAlarms: { dollars: 0.5, unit: 'composite alarm a month', source: facts },
  dashboards: {
    dollars: 3,
    unit: "dashboard a month (an account's first three are free)",
    source: facts,
  },
  keys: {
    dollars: 1,
    unit: 'customer key a month, and as much again for each of the first two yearly rotations',
    source: 'aws.amazon.com/kms/pricing and cloudburn.io, March 2026',
  },
  keyRequests: { dollars: 3e-6, unit: 'request to KMS', source: cloudburn },
  secrets: { dollars: 0.4, unit: 'secret a month', source: facts },
} as const satisfies Record<string, Price>;
