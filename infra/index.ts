import './needed-node.ts';

/** The exports of `certification-notifier/cdk` for CDK apps: docs/configuration.md#the-construct. */
export type { SubscriptionSettingsInput } from './config.ts';
export { ConfigError } from './config-error.ts';
export {
  CertificationNotifier,
  type CertificationNotifierProps,
  type WatchedIntegration,
} from './constructs/certification-notifier.ts';
export type { CredentialsSecret, Integration } from './constructs/integration.ts';
