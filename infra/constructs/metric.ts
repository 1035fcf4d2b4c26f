import type { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { metricDimensions, metricNamespace } from '../../lambda/names.ts';

/** The integration and the ledger of a metric. */
export interface Ticks {
  readonly integration: string;
  /** The name of the ledger's table. */
  readonly ledger: string;
}

/** A metric that the ticks of an integration write; `metrics` in names.ts has its name. */
export function metricOf(
  { integration, ledger }: Ticks,
  metricName: string,
  options: { statistic: string; period?: Duration; label?: string },
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: metricNamespace,
    metricName,
    dimensionsMap: {
      [metricDimensions.integration]: integration,
      [metricDimensions.ledger]: ledger,
    },
    ...options,
  });
}
