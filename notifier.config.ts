import { defineConfig } from './infra/config.ts';

// What to watch and whom to tell; docs/configuration.md has every setting. `npx cdk synth` checks it
// and names every wrong value.
// Never a credential here: `npx cdk deploy` prints the command that fills each secret.
export default defineConfig({
  integrations: [
    {
      // In every event's id and source: subscribers know it. Do not rename a live integration.
      name: 'district-a',
      baseUrl: 'https://partner.example.org',
      // Of the partner's host, not of the organization: it decides which day "today" is.
      timeZone: 'America/Chicago',
      // Minutes between two looks at the partner.
      every: 1,
      // Days before today that are read again most often; what was completed earlier is announced as late.
      recentDays: 3,
    },
  ],

  subscriptions: [
    // Events are for machines, one message each. A new queue is made, with all that it needs:
    // { topic: 'events', protocol: 'sqs', endpoint: { newQueue: 'payroll' }, raw: true,
    //   filter: { types: ['created'], organizations: [7] } },
    // The policy of a queue of your own must let the topic send:
    // { topic: 'events', protocol: 'sqs', endpoint: 'arn:aws:sqs:us-east-1:111122223333:certifications' },
    //
    // Alerts are for people, one digest a tick; operations hears of trouble:
    // { topic: 'alerts', protocol: 'email', endpoint: 'certification-office@district-a.example.org' },
    // { topic: 'operations', protocol: 'email', endpoint: 'on-call@district-a.example.org' },
  ],
});
