import { defineConfig } from './config.ts';

/** The queue that `npm run smoke` reads. */
export const demoQueue = 'demo';

/**
 * The configuration of `npx cdk deploy -c demo=true`: a stack beside any other, with an invented partner in it
 * (constructs/demo-sandbox.ts). Nothing stays: `npx cdk destroy -c demo=true` removes all of it.
 */
export const demoConfig = defineConfig({
  stackName: 'certification-notifier-demo',
  integrations: [
    {
      name: 'demo',
      // The URL of the stack's own partner takes its place.
      baseUrl: 'https://sandbox.invalid',
      timeZone: 'America/New_York',
      // An assessment is removed every two hours, and restored 42 minutes later.
      withdrawAfter: 2,
      audit: { recentMinutes: 5 },
    },
  ],
  subscriptions: [
    { topic: 'events', protocol: 'sqs', endpoint: { newQueue: demoQueue }, raw: true },
  ],
  // A new account has no executions to reserve.
  reserveConcurrency: false,
  terminationProtection: false,
});
