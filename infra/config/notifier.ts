import type { ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import * as z from 'zod';
import { isCredential } from '../config-error.ts';
import { alerts } from './alerts.ts';
import { integration } from './integration.ts';
import { subscription } from './subscription.ts';
import {
  anyObject,
  arn,
  fitsOrIsDeferred,
  flag,
  keyArn,
  list,
  oneOf,
  record,
  text,
} from './words.ts';

/** The retention times that CloudWatch Logs knows (PutRetentionPolicy), up to ten years. */
const retentionDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288,
  3653,
] as const;

/**
 * CloudWatch's limit is 1,024 characters for an alarm's description. The longest of ours, about a subscriber whose host
 * has the longest possible name, leaves more than this.
 */
const maxRunbookUrl = 200;

/** More integrations need a second deployment with another `stackName`. */
export const maxIntegrations = 22;

/** SNS's limit for a topic's policy: 30 KB and 100 statements. An account takes a statement of up to 500 bytes. */
export const maxSubscriberAccounts = 50;

function integrationsOf<T extends z.ZodType>(one: T) {
  return list(one, `1 to ${maxIntegrations} integrations`, maxIntegrations).describe(
    'The integrations: one element for each set of credentials at the partner.',
  );
}

/** The settings of a notifier, in a stack of its own or in a foreign one. */
export const notifierSettings = {
  integrations: integrationsOf(integration),
  subscriptions: z
    .array(subscription, { error: 'a list of subscriptions' })
    .meta({ allowed: 'a list of subscriptions' })
    .prefault(() => [])
    .describe(
      'The subscribers. Messages that SNS cannot deliver wait for 14 days in a dead-letter queue of the subscription, and ops are told.',
    ),
  topic: oneOf(['standard', 'fifo'])
    .default('standard')
    .describe(
      "The kind of the events topic. `'fifo'` keeps the order of the events of one assessment and drops duplicates within five minutes, but takes queues only. A change replaces the topic and the queues made for it, with their messages: `docs/operations.md#upgrade` says how nothing is lost. Subscribers from elsewhere have to subscribe again.",
    ),
  alerts: alerts.prefault({}).describe('The digests for people.'),
  subscriberAccounts: list(
    text('an AWS account id of 12 digits', (value) => /^\d{12}$/.test(value)),
    `a list of at most ${maxSubscriberAccounts} AWS account ids`,
    maxSubscriberAccounts,
    0,
  )
    .default(() => [])
    .describe(
      'Accounts that may subscribe their own queues and functions to the events topic; no address, and no queue of another account.',
    ),
  keyArn: keyArn()
    .optional()
    .describe(
      "An existing customer key in the stack's region, for the topics and the queues of the stack, instead of a new one for a dollar a month. Its policy needs these statements: `docs/configuration.md#a-key-of-your-own`. The replaced key stays, for messages that wait in queues. AWS's own key for SNS cannot let alarms in: they would be dropped silently.",
    ),
  pagerTopicArn: text(
    'the ARN of a standard SNS topic',
    fitsOrIsDeferred(arn('sns', /[\w-]{1,256}/)),
  )
    .optional()
    .describe(
      "An existing topic that wakes somebody, such as a pager's, in the stack's region. It gets one message when ticks of an integration fail or do not complete, when its events are not accepted, or when messages to operations are not delivered, and one when that is over. A new integration may seem to be silent until its first tick is counted. The policies of the topic and of its key must let CloudWatch publish.",
    ),
  runbookUrl: text(
    `the https URL of a page, of at most ${maxRunbookUrl} characters, without "#" and without credentials`,
    (value) =>
      value.length <= maxRunbookUrl &&
      /^https:\/\/[^\s/@#]+(\/[^\s#]*)?$/.test(value) &&
      URL.canParse(value) &&
      !isCredential(value),
  )
    .optional()
    .describe(
      'The URL under which ops read `docs/operations.md`, such as `https://wiki.example.org/notifier/operations`: each alarm then links to its entry there (`…/operations#failing`). Without it, alarms name that file of this project.',
    ),
  reserveConcurrency: flag()
    .default(true)
    .describe(
      "Whether each integration reserves one of the account's concurrent executions of functions for its ticks. Set `false` in an account whose quota is too low for that (`docs/operations.md`): then only the ledger keeps two ticks apart.",
    ),
  dashboard: flag()
    .default(true)
    .describe('A CloudWatch dashboard. The first three of an account are free.'),
  logRetentionDays: z
    .literal(retentionDays, { error: `one of ${retentionDays.join(', ')}` })
    .meta({ allowed: `one of ${retentionDays.join(', ')}` })
    .default(30)
    .describe("How long the functions' logs are kept. They hold no personal data."),
};

/**
 * The secret of a foreign app may be a construct. `Secret` is named because, under `exactOptionalPropertyTypes`, it is
 * no `ISecret`.
 */
const integrationOfAnApp = integration
  .safeExtend({
    secret: z
      .custom<ISecret | Secret>(
        (value) => typeof value === 'object' && value !== null && 'secretArn' in value,
        {
          error:
            "an ISecret of the CDK, such as Secret.fromSecretNameV2(this, 'Partner', 'partner')",
        },
      )
      .optional(),
  })
  .superRefine(({ secret, secretName, secretKeyArn }, problems) => {
    const refuse = (path: string, message: string) =>
      problems.addIssue({ code: 'custom', path: [path], message });
    if (secret === undefined) return;
    if (secretName !== undefined) refuse('secretName', 'none beside `secret`');
    if (secretKeyArn !== undefined && secret?.encryptionKey !== undefined)
      refuse('secretKeyArn', 'none: `secret` has a key of its own');
  }, anyObject);

/** The settings that `new CertificationNotifier` takes, before clashes between them are looked for. */
export const notifier = record({
  ...notifierSettings,
  integrations: integrationsOf(integrationOfAnApp),
});
export type NotifierSettings = z.output<typeof notifier>;
