/** What a CDK app imports as `certification-notifier/cdk`: docs/configuration.md#the-construct. */
export type { SubscriptionSettingsInput } from './config/input.ts';
export { ConfigError } from './config-error.ts';
export {
  CertificationNotifier,
  type CertificationNotifierProps,
  type WatchedIntegration,
} from './constructs/certification-notifier.ts';
export type { CredentialsSecret, Integration } from './constructs/integration.ts';
