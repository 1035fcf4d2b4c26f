import { defineConfig } from './config.ts';

/** The one that `npm run smoke` reads. */
export const demoQueue = 'demo';

/**
 * What `npx cdk deploy -c demo=true` deploys: a stack of its own beside any other, and an invented partner in it
 * (constructs/demo-sandbox.ts). It keeps nothing: `npx cdk destroy -c demo=true` removes all of it.
 */
export const demoConfig = defineConfig({
  stackName: 'certification-notifier-demo',
  integrations: [
    {
      name: 'demo',
      // Its place is taken by the URL of the stack's own partner.
      baseUrl: 'https://sandbox.invalid',
      timeZone: 'America/New_York',
      // Something is removed every ten minutes, and back 42 minutes later.
      withdrawAfter: 2,
      audit: { recentMinutes: 5 },
    },
  ],
  subscriptions: [
    { topic: 'events', protocol: 'sqs', endpoint: { newQueue: demoQueue }, raw: true },
  ],
  // A new account has no executions to spare.
  reserveConcurrency: false,
  terminationProtection: false,
});
