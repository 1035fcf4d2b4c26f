import { statSync } from 'node:fs';
import { ConfigError } from './config-error.ts';

/** CloudFormation quotas, "Template body size in an S3 object": 1 MB, which the CDK takes for so many bytes. */
export const maxTemplateSize = 1_000_000;

/**
 * Refuses a template that is too large, since no limit of a single setting prevents that: many subscriptions may each
 * have a filter with many long names. CloudFormation would refuse it only in the deployment, and the CDK only warns.
 *
 * @param file of a template, as it is uploaded
 * @throws ConfigError when it is larger than CloudFormation takes
 */
export function refuseLargeTemplate(file: string): void {
  const { size } = statSync(file);
  if (size <= maxTemplateSize) return;
  throw new ConfigError([
    `subscriptions: a template of ${grouped(size)} bytes found; allowed: one of at most ${grouped(maxTemplateSize)}, which CloudFormation takes: fewer or shorter names in filters, fewer subscriptions, or fewer integrations (a second deployment needs another stackName)`,
  ]);
}

const grouped = (count: number) => count.toLocaleString('en');
